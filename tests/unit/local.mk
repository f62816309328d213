# tests/unit
if HAVE_CHECK
check_PROGRAMS += tests/unit/test_check tests/unit/test_check_oracle
tests_unit_test_check_SOURCES = tests/unit/test_check.c tests/unit/check_net.h
tests_unit_test_check_CFLAGS = $(CHECK_TEST_CFLAGS)
tests_unit_test_check_LDADD = $(CHECK_TEST_LDADD)
tests_unit_test_check_oracle_SOURCES = tests/unit/test_check_oracle.c \
	tests/unit/check_net.h
tests_unit_test_check_oracle_CFLAGS = $(CHECK_TEST_CFLAGS)
tests_unit_test_check_oracle_LDADD = $(CHECK_TEST_LDADD)
endif
