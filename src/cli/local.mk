bin_PROGRAMS += ibfattree
ibfattree_SOURCES = src/cli/main.c src/cli/cli.h src/cli/opts.c \
	src/cli/common.c src/cli/output.c src/cli/names.c src/cli/term.c src/cli/json.c \
	src/cli/json.h src/cli/jsonread.c src/cli/jsonread.h src/cli/gen.c src/cli/schedule.c src/cli/schedule.h \
	src/cli/route.c src/cli/check.c src/cli/report.c \
	src/cli/report_json.c src/cli/reach.c src/cli/reach.h src/cli/live.c src/cli/live.h src/cli/diff.c \
	src/cli/whatif.c src/cli/whatif.h src/cli/whatif_show.c \
	src/cli/fault.c src/cli/find.c src/cli/measure.c src/cli/load.c src/cli/load.h \
	src/cli/load_json.c src/cli/local.c src/cli/local.h \
	src/cli/completion.c src/cli/sim.c src/cli/sim.h src/cli/sim_input.c \
	src/cli/sim_schedule.c src/cli/sim_events.c src/cli/sim_show.c \
	src/cli/sim_json.c src/cli/sim_svg.c src/cli/unpack.c
ibfattree_CFLAGS = $(AM_CFLAGS) $(IBMAD_CFLAGS) $(JSONC_CFLAGS) \
	$(UNPACK_CFLAGS)
ibfattree_LDADD = libftr.la $(IBMAD_LIBS) $(JSONC_LIBS) \
	$(UNPACK_LIBS) -lm

# bash completion, kept in the tree and held against the program by tests/cli
completiondir = $(datadir)/bash-completion/completions
dist_completion_DATA = src/cli/completion/ibfattree
