# tests/perf
# make tests/perf/time_check, then run it: prints milliseconds, never fails
EXTRA_PROGRAMS += tests/perf/time_check
tests_perf_time_check_SOURCES = tests/perf/time_check.c
tests_perf_time_check_LDADD = libftr.la
