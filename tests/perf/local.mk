# Programs that measure times.  make builds each of them by its name, for example
# make tests/perf/time_check.  No time counts as a failure.
EXTRA_PROGRAMS += tests/perf/time_check
tests_perf_time_check_SOURCES = tests/perf/time_check.c
tests_perf_time_check_LDADD = libftrtools.a libftrcore.a

EXTRA_PROGRAMS += tests/perf/time_repair
tests_perf_time_repair_SOURCES = tests/perf/time_repair.c
tests_perf_time_repair_LDADD = libreroute.a libhelper.a libftrtools.a libftrcore.a

EXTRA_PROGRAMS += tests/perf/time_connect
tests_perf_time_connect_SOURCES = tests/perf/time_connect.c \
	tests/lib/irregular.c tests/lib/irregular.h
tests_perf_time_connect_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_perf_time_connect_LDADD = libftrtools.a libftrcore.a

EXTRA_PROGRAMS += tests/perf/time_balance
tests_perf_time_balance_SOURCES = tests/perf/time_balance.c
tests_perf_time_balance_LDADD = libftrtools.a libftrcore.a

EXTRA_PROGRAMS += tests/perf/bench_core
tests_perf_bench_core_SOURCES = tests/perf/bench_core.c
tests_perf_bench_core_LDADD = libftrtools.a libftrcore.a

EXTRA_PROGRAMS += tests/perf/bench_place
tests_perf_bench_place_SOURCES = tests/perf/bench_place.c
tests_perf_bench_place_LDADD = libftrtools.a libftrcore.a

EXTRA_PROGRAMS += tests/perf/bench_incremental
tests_perf_bench_incremental_SOURCES = tests/perf/bench_incremental.c
tests_perf_bench_incremental_LDADD = libftrtools.a libftrcore.a

EXTRA_PROGRAMS += tests/perf/bench_bound
tests_perf_bench_bound_SOURCES = tests/perf/bench_bound.c tests/lib/dual.c tests/lib/dual.h
tests_perf_bench_bound_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_perf_bench_bound_LDADD = libftrtools.a libftrcore.a -lm

if HAVE_IBMAD
# tests/perf/ibsim_bound runs it
EXTRA_PROGRAMS += tests/perf/time_mads
tests_perf_time_mads_SOURCES = tests/perf/time_mads.c
tests_perf_time_mads_CFLAGS = $(AM_CFLAGS) $(IBMAD_CFLAGS)
tests_perf_time_mads_LDADD = $(IBMAD_LIBS)
endif

# make bench: the tables of BENCHMARKS.md on standard output
if HAVE_OPENSM
EXTRA_PROGRAMS += libibftimer.so
libibftimer_so_SOURCES = tests/perf/timer.c
libibftimer_so_CPPFLAGS = $(AM_CPPFLAGS) $(OSM_CFLAGS)
libibftimer_so_CFLAGS = $(AM_CFLAGS) -fPIC
libibftimer_so_LINK = $(LINK_SHARED)
BENCH_OPENSM = libibftimer.so
endif

EXTRA_DIST += tests/perf/chassis.awk tests/perf/ibsim_bound

.PHONY: bench bench-programs
bench-programs: all tests/perf/bench_core tests/perf/bench_place \
	tests/perf/bench_bound $(BENCH_OPENSM)

bench: all
	$(srcdir)/scripts/bench --build $(abs_builddir)
