# Programs that test every input up to a size.
if HAVE_CHECK
check_PROGRAMS += tests/exhaustive/test_choice tests/exhaustive/test_codec \
	tests/exhaustive/test_numbers
tests_exhaustive_test_choice_SOURCES = tests/exhaustive/test_choice.c
tests_exhaustive_test_choice_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_exhaustive_test_choice_LDADD = libftrtest.a $(CHECK_TEST_LDADD)
tests_exhaustive_test_codec_SOURCES = tests/exhaustive/test_codec.c
tests_exhaustive_test_codec_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_exhaustive_test_codec_LDADD = libhelper.a libftrtest.a $(CHECK_TEST_LDADD)
tests_exhaustive_test_numbers_SOURCES = tests/exhaustive/test_numbers.c
tests_exhaustive_test_numbers_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_exhaustive_test_numbers_LDADD = $(CHECK_TEST_LDADD)
endif
