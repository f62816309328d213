# What tests/seeds/run needs beside the command; at the top of the build, for the
# directory goes into releases as it is.
noinst_PROGRAMS += rerouting immunet
rerouting_SOURCES = tests/seeds/rerouting.c tests/ddlr/state.c \
	tests/ddlr/state.h
rerouting_CFLAGS = $(AM_CFLAGS) -I$(top_srcdir)/tests
rerouting_LDADD = libftr.la
immunet_SOURCES = tests/seeds/immunet.c
immunet_LDADD = libftr.la
