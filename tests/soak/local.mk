# A library that reports the memory of opensm in tests/soak/run.
noinst_PROGRAMS += heap.so
heap_so_SOURCES = tests/soak/heap.c
heap_so_CFLAGS = $(AM_CFLAGS) -fPIC
heap_so_LINK = $(LINK_SHARED)
EXTRA_DIST += tests/soak/run tests/soak/managers.sh tests/soak/flat.awk \
	tests/soak/valgrind
