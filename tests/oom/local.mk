# Failing allocations in the command: a preloaded library, and a program that runs a command
# twice for each of its allocations.
noinst_LTLIBRARIES += failalloc.la
failalloc_la_SOURCES = tests/oom/failalloc.c
failalloc_la_CFLAGS = $(AM_CFLAGS)
failalloc_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared \
	-rpath $(abs_builddir)
noinst_PROGRAMS += oomrun
oomrun_SOURCES = tests/oom/oomrun.c
dist_check_SCRIPTS += tests/oom/run
TESTS += tests/oom/run
