# Local repairs: make check runs a sample of fault sets, make verify-ddlr the long list.
check_PROGRAMS += tests/ddlr/verify
tests_ddlr_verify_SOURCES = tests/ddlr/verify_faults.c tests/ddlr/fault_state.c \
	tests/ddlr/fault_state.h
tests_ddlr_verify_CFLAGS = $(AM_CFLAGS) -I$(top_srcdir)/tests
tests_ddlr_verify_LDADD = libftrtools.a libftrcore.a

.PHONY: verify-ddlr
verify-ddlr: tests/ddlr/verify
	tests/ddlr/verify long

# make ddlr-loss prints the table of docs/ddlr.md: when the entries of a repair take
# effect, and how many packets are lost until then.
EXTRA_PROGRAMS += tests/ddlr/write_times
tests_ddlr_write_times_SOURCES = tests/ddlr/write_times.c
tests_ddlr_write_times_LDADD = libftrtools.a libftrcore.a

.PHONY: ddlr-loss
ddlr-loss: tests/ddlr/write_times ibfattree
	$(srcdir)/tests/ddlr/loss .
EXTRA_DIST += tests/ddlr/loss

# The curves of docs/ddlr.md: make ddlr-curves writes CSV and SVG there.
EXTRA_PROGRAMS += tests/ddlr/curve
tests_ddlr_curve_SOURCES = tests/ddlr/curve.c tests/ddlr/fault_state.c \
	tests/ddlr/fault_state.h
tests_ddlr_curve_CFLAGS = $(AM_CFLAGS) -I$(top_srcdir)/tests
tests_ddlr_curve_LDADD = libftrtools.a libftrcore.a

.PHONY: ddlr-curves
ddlr-curves: tests/ddlr/curve
	tests/ddlr/curve kary:4,3 10 5000 1 >$(srcdir)/docs/ddlr-4ary-3tree.csv
	tests/ddlr/curve kary:2,6 10 1000 1 >$(srcdir)/docs/ddlr-2ary-6tree.csv
	for t in 4ary-3tree 2ary-6tree; do \
		for k in connected deadlock; do \
			awk -v kind=$$k -f $(srcdir)/tests/ddlr/plot.awk \
				$(srcdir)/docs/ddlr-$$t.csv \
				>$(srcdir)/docs/ddlr-$$t-$$k.svg || exit; \
		done; \
	done
EXTRA_DIST += docs tests/ddlr/plot.awk
