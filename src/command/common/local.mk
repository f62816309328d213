# What the programs in Python share.
commondir = $(pkgdatadir)/common
dist_common_DATA = src/command/common/common.py
