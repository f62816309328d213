# tests/unit
if HAVE_CHECK
check_PROGRAMS += tests/unit/test_check
tests_unit_test_check_SOURCES = tests/unit/test_check.c tests/unit/check_net.h
tests_unit_test_check_CFLAGS = $(CHECK_TEST_CFLAGS)
tests_unit_test_check_LDADD = $(CHECK_TEST_LDADD)
endif
