# The command line without a simulator.
dist_check_SCRIPTS += tests/cli/run
EXTRA_DIST += tests/cli/golden tests/cli/lists.py tests/cli/slurm.py \
	tests/cli/collective.py tests/cli/events.py
TESTS += tests/cli/run

noinst_PROGRAMS += jsonq
jsonq_SOURCES = tests/cli/jsonq.c
jsonq_CFLAGS = $(AM_CFLAGS) $(JSONC_CFLAGS)
jsonq_LDADD = $(JSONC_LIBS)

# The command with a fabric from files in the place of the libraries of rdma-core.
if HAVE_IBMAD
noinst_PROGRAMS += ibfattree-fake
ibfattree_fake_SOURCES = src/command/cli/main.c tests/cli/fake_ib.c
ibfattree_fake_CFLAGS = $(AM_CFLAGS) $(IBMAD_CFLAGS)
ibfattree_fake_LDADD = $(ibfattree_LDADD)
endif
