# What tests/seeds/run needs beside the command.
noinst_PROGRAMS += tests/seeds/rerouting tests/seeds/immunet
tests_seeds_rerouting_SOURCES = tests/seeds/rerouting.c tests/ddlr/state.c \
	tests/ddlr/state.h
tests_seeds_rerouting_CFLAGS = $(AM_CFLAGS) -I$(top_srcdir)/tests
tests_seeds_rerouting_LDADD = libftr.la
tests_seeds_immunet_SOURCES = tests/seeds/immunet.c
tests_seeds_immunet_LDADD = libftr.la
