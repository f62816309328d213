# The command without main(), also linked by its unit tests.
noinst_LIBRARIES = libcli.a
libcli_a_SOURCES = src/cli/cli.h src/cli/opts.c src/cli/die.c \
	src/cli/common.c src/cli/output.c src/cli/names.c src/cli/term.c src/cli/json.c \
	src/cli/json.h src/cli/jsonread.c src/cli/jsonread.h src/cli/gen.c src/cli/schedule.c src/cli/schedule.h \
	src/cli/route.c src/cli/check.c src/cli/report.c \
	src/cli/reach.c src/cli/reach.h src/cli/live.c src/cli/live.h src/cli/diff.c \
	src/cli/whatif.c src/cli/whatif.h src/cli/whatif_show.c \
	src/cli/fault.c src/cli/find.c src/cli/measure.c src/cli/load.c \
	src/cli/ddlr_repair.c src/cli/ddlr_repair.h \
	src/cli/completion.c \
	src/cli/input.c src/cli/save.c src/cli/transition.c src/cli/transition.h \
	src/cli/html.h src/cli/html.c src/cli/html_set.c \
	src/cli/html_write.c src/cli/html_tables.c src/cli/slurm.c src/cli/ranks.c src/cli/jobs.c \
	src/cli/jobs.h src/cli/unpack.c src/cli/top.c src/cli/top.h \
	src/cli/top_read.c src/cli/top_show.c $(DOCTOR_SOURCES)
DOCTOR_SOURCES = src/cli/doctor.c src/cli/doctor.h src/cli/doctor_links.c \
	src/cli/doctor_local.c src/cli/doctor_paths.c src/cli/doctor_read.c \
	src/cli/doctor_result.c
nodist_libcli_a_SOURCES = src/cli/html_parts.c
libcli_a_CPPFLAGS = $(AM_CPPFLAGS) -DFTR_LIBDIR='"$(libdir)"' \
	-DFTR_MULTIARCH='"$(host_cpu)-linux-gnu"'
libcli_a_CFLAGS = $(AM_CFLAGS) $(IBMAD_CFLAGS) $(JSONC_CFLAGS) \
	$(ZLIB_CFLAGS) $(UNPACK_CFLAGS) $(NCURSES_CFLAGS)

bin_PROGRAMS += ibfattree
ibfattree_SOURCES = src/cli/main.c
ibfattree_LDADD = libcli.a libftrcore.la $(IBMAD_LIBS) $(JSONC_LIBS) $(ZLIB_LIBS) \
	$(UNPACK_LIBS) $(NCURSES_LIBS) -lm

bin_PROGRAMS += ibfattree-sim
ibfattree_sim_SOURCES = src/cli/sim_main.c src/cli/sim.c src/cli/sim.h src/cli/sim_input.c \
	src/cli/sim_schedule.c src/cli/sim_events.c src/cli/sim_show.c src/cli/sim_json.c \
	src/cli/sim_svg.c
ibfattree_sim_CFLAGS = $(libcli_a_CFLAGS)
ibfattree_sim_LDADD = libcli.a libftrlab.la libftrcore.la $(JSONC_LIBS) $(ZLIB_LIBS) \
	$(UNPACK_LIBS) -lm

# The page of ibfattree report and the bash completion, as C strings.  The hashes go into its content security
# policy, so that the browser runs this script and no other.
html_scripts = src/cli/html/model.js src/cli/html/load.js src/cli/html/odd.js \
	src/cli/html/draw.js src/cli/html/panel.js src/cli/html/main.js
html_parts = src/cli/html/head.html src/cli/html/body.html \
	src/cli/html/page.css $(html_scripts)
EXTRA_DIST += src/cli/html/parts.awk $(html_parts)
CLEANFILES += src/cli/html_parts.c src/cli/html_parts.js
src/cli/html_parts.c: src/cli/html/parts.awk $(html_parts) src/cli/completion/ibfattree
	$(AM_V_GEN)$(MKDIR_P) src/cli && \
	(cd $(srcdir) && cat $(html_scripts)) >src/cli/html_parts.js && \
	$(AWK) -f $(srcdir)/src/cli/html/parts.awk \
		-v script="`(echo; cat src/cli/html_parts.js) | sha256sum`" \
		-v style="`(echo; cat $(srcdir)/src/cli/html/page.css) | sha256sum`" \
		$(srcdir)/src/cli/html/head.html $(srcdir)/src/cli/html/page.css \
		$(srcdir)/src/cli/html/body.html src/cli/html_parts.js \
		$(srcdir)/src/cli/completion/ibfattree >$@.tmp && \
	mv $@.tmp $@

completiondir = $(datadir)/bash-completion/completions
dist_completion_DATA = src/cli/completion/ibfattree
