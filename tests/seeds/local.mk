# What tests/seeds/run needs beside the command.
noinst_PROGRAMS += rerouting
rerouting_SOURCES = tests/seeds/rerouting.c tests/ddlr/state.c \
	tests/ddlr/state.h
rerouting_CFLAGS = $(AM_CFLAGS) -I$(top_srcdir)/tests
rerouting_LDADD = libftr.la
