# A library that reports the memory of opensm in tests/soak/run.
noinst_LTLIBRARIES += heap.la
heap_la_SOURCES = tests/soak/heap.c
heap_la_CFLAGS = $(AM_CFLAGS)
heap_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared \
	-rpath $(abs_builddir)
EXTRA_DIST += tests/soak/run tests/soak/managers.sh tests/soak/flat.awk \
	tests/soak/valgrind
