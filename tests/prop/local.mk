# Property tests over random fabrics; FTR_SEED replays, FTR_RUNS scales.
if HAVE_CHECK
libftrtest_la_SOURCES += tests/lib/oracle.c tests/lib/oracle.h \
	tests/lib/trees.c tests/lib/trees.h tests/lib/deps.c tests/lib/deps.h

check_PROGRAMS += tests/prop/test_dmodc
tests_prop_test_dmodc_SOURCES = tests/prop/test_dmodc.c
tests_prop_test_dmodc_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_prop_test_dmodc_LDADD = libftrtest.la $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/prop/test_sftree
tests_prop_test_sftree_SOURCES = tests/prop/test_sftree.c
tests_prop_test_sftree_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_prop_test_sftree_LDADD = libftrtest.la $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/prop/test_repair
tests_prop_test_repair_SOURCES = tests/prop/test_repair.c
tests_prop_test_repair_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_prop_test_repair_LDADD = libftrtest.la $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/prop/test_cdg
tests_prop_test_cdg_SOURCES = tests/prop/test_cdg.c
tests_prop_test_cdg_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_prop_test_cdg_LDADD = libftrtest.la $(CHECK_TEST_LDADD)
endif
