# Local repairs: a sample in make check, the lot with make verify-ddlr.
check_PROGRAMS += tests/ddlr/verify
tests_ddlr_verify_SOURCES = tests/ddlr/verify.c tests/ddlr/state.c \
	tests/ddlr/state.h
tests_ddlr_verify_CFLAGS = $(AM_CFLAGS) -I$(top_srcdir)/tests
tests_ddlr_verify_LDADD = libftr.la

.PHONY: verify-ddlr
verify-ddlr: tests/ddlr/verify
	tests/ddlr/verify long
