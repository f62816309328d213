# The command without main(), also linked by its unit tests.
noinst_LIBRARIES += libcli.a
libcli_a_SOURCES = src/command/cli/cli.h src/command/cli/opts.c src/command/cli/die.c \
	src/command/cli/common.c src/command/cli/output.c src/command/cli/program.c src/command/cli/names.c src/command/cli/term.c src/command/cli/json.c \
	src/command/cli/json.h src/command/cli/gen.c \
	src/command/cli/route.c src/command/cli/check.c src/command/cli/report.c \
	src/command/cli/reach.c src/command/cli/reach.h src/command/cli/live.c src/command/cli/live.h src/command/cli/diff.c \
	src/command/cli/drain.c src/command/cli/whatif.c src/command/cli/whatif.h src/command/cli/whatif_show.c \
	src/command/cli/fault.c src/command/cli/find.c src/command/cli/measure.c src/command/cli/load.c \
	src/command/cli/ddlr_repair.c src/command/cli/ddlr_repair.h src/command/cli/details.c \
	src/command/cli/completion.c \
	src/command/cli/input.c src/command/cli/transition.c src/command/cli/transition.h \
	src/command/cli/jobs.c \
	src/command/cli/pairs.c src/command/cli/pairs.h src/command/cli/pairs_plan.c \
	src/command/cli/jobs.h src/command/cli/count.c src/command/cli/unpack.c \
	src/command/cli/facts.c src/command/cli/facts.h \
	src/command/cli/facts_live.c src/command/cli/rails.c
nodist_libcli_a_SOURCES = src/command/cli/parts.c
libcli_a_CFLAGS = $(AM_CFLAGS) $(IBMAD_CFLAGS) $(JSONC_CFLAGS) \
	$(UNPACK_CFLAGS)

bin_PROGRAMS += ibfattree
ibfattree_SOURCES = src/command/cli/main.c
ibfattree_LDADD = libcli.a libftrtools.a libftrcore.a $(IBMAD_LIBS) $(JSONC_LIBS) \
	$(UNPACK_LIBS) -lm

# ibfattree-simulate without main(): a program of tests/seeds has other routing functions.
noinst_LIBRARIES += libsim.a
libsim_a_SOURCES = src/command/cli/sim.c src/command/cli/sim.h src/command/cli/sim_input.c \
	src/command/cli/sim_schedule.c src/command/cli/sim_writes.c src/command/cli/sim_results.c
libsim_a_CFLAGS = $(libcli_a_CFLAGS)
bin_PROGRAMS += ibfattree-simulate
ibfattree_simulate_SOURCES = src/command/cli/sim_main.c
ibfattree_simulate_LDADD = libsim.a libcli.a libftrtools.a libftrcore.a $(JSONC_LIBS) \
	$(UNPACK_LIBS) -lm

# The bash completion and the script of pairs, as C strings.
parts = src/command/cli/completion/ibfattree src/command/cli/pairs/script
EXTRA_DIST += src/command/cli/parts.awk src/command/cli/pairs/script
CLEANFILES += src/command/cli/parts.c
src/command/cli/parts.c: src/command/cli/parts.awk $(parts)
	$(AM_V_GEN)$(MKDIR_P) src/command/cli && \
	(cd $(srcdir) && $(AWK) -f src/command/cli/parts.awk $(parts)) >$@.tmp && mv $@.tmp $@

# Python: programs that convert one file to another or show it.
dist_bin_SCRIPTS += src/command/convert/ibfattree-nodes src/command/convert/ibfattree-topo \
	src/command/convert/ibfattree-slurm src/command/convert/ibfattree-ranks \
	src/command/top/ibfattree-top \
	src/command/collective/ibfattree-collective src/command/drain/ibfattree-drain src/command/sim/ibfattree-sim

completiondir = $(datadir)/bash-completion/completions
dist_completion_DATA = src/command/cli/completion/ibfattree
