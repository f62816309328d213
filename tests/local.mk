# Tests that need nothing but the library: make check.  Each module's tests are
# listed in tests/<class>/local.mk; the end-to-end runs in tests/sim.
CHECK_TEST_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) -I$(top_srcdir)/tests
CHECK_TEST_LDADD = libsuite.a libftrtools.a libftrcore.a $(CHECK_LIBS)
EXTRA_DIST += tests/lib/coverage.py
if HAVE_CHECK
check_LIBRARIES += libsuite.a
libsuite_a_SOURCES = tests/lib/suite.c tests/lib/suite.h tests/lib/at_rest.h \
	tests/lib/temp.h tests/lib/alloc.c tests/lib/alloc.h
libsuite_a_CFLAGS = $(CHECK_TEST_CFLAGS)
endif
AM_TESTS_ENVIRONMENT = abs_top_srcdir='$(abs_top_srcdir)'; export abs_top_srcdir; \
	abs_top_builddir='$(abs_top_builddir)'; export abs_top_builddir; \
	IBFATTREE_HELPER='$(abs_top_builddir)/ibfattree-helper'; export IBFATTREE_HELPER; \
	IBFATTREE_HELPER_SECONDS=600; export IBFATTREE_HELPER_SECONDS;
TESTS += $(check_PROGRAMS)

include tests/unit/local.mk
include tests/order/local.mk
include tests/exhaustive/local.mk
include tests/prop/local.mk
include tests/ddlr/local.mk
include tests/cli/local.mk
include tests/campaign/local.mk
include tests/doctor/local.mk
include tests/report/local.mk
include tests/oom/local.mk
include tests/sim/local.mk
include tests/soak/local.mk
include tests/perf/local.mk
include tests/consumers/local.mk
include tests/seeds/local.mk
EXTRA_DIST += tests/seeds tests/compat tests/library/run tests/mutants tests/proof
# After a build inside the source tree, these directories also contain objects, which are not
# part of a release.
dist-hook:
	for d in seeds seeds/models; do rm -rf $(distdir)/tests/$$d/*.o \
		$(distdir)/tests/$$d/.deps $(distdir)/tests/$$d/.dirstamp; done

.PHONY: print-tests
print-tests:
	@echo $(TESTS)
