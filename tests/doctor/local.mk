# Tests of ibfattree doctor, and libraries that take the place of libibumad and libibverbs for them.
# Python loads these, so they are built without a sanitizer.
dist_check_SCRIPTS += tests/doctor/test_doctor.py
TESTS += tests/doctor/test_doctor.py
if HAVE_IBMAD
noinst_PROGRAMS += node.so
node_so_SOURCES = tests/doctor/node.c
node_so_CFLAGS = -std=gnu11 $(FTR_WARN_CFLAGS) -fPIC $(IBMAD_CFLAGS) $(IBVERBS_CFLAGS)
node_so_LINK = $(CC) -shared $(CFLAGS) $(LDFLAGS) -o $@
endif
