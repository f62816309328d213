bin_PROGRAMS += ibfattree
ibfattree_SOURCES = src/cli/main.c src/cli/cli.h src/cli/opts.c \
	src/cli/common.c src/cli/gen.c src/cli/route.c src/cli/check.c \
	src/cli/diff.c src/cli/load.c src/cli/report.c src/cli/live.c src/cli/live.h
ibfattree_CFLAGS = $(AM_CFLAGS) $(IBMAD_CFLAGS)
ibfattree_LDADD = libftr.la $(IBMAD_LIBS)
