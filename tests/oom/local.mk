# Failing allocations in the command: a preloaded library, and a program that runs a command
# twice for each of its allocations.
noinst_PROGRAMS += failalloc.so
failalloc_so_SOURCES = tests/oom/failalloc.c
failalloc_so_CFLAGS = $(AM_CFLAGS) -fPIC
failalloc_so_LINK = $(LINK_SHARED)
noinst_PROGRAMS += oomrun
oomrun_SOURCES = tests/oom/oomrun.c
dist_check_SCRIPTS += tests/oom/run
TESTS += tests/oom/run
