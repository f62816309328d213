# Unit tests, one program per module.
if HAVE_CHECK
check_LIBRARIES += libftrtest.a
libftrtest_a_SOURCES = tests/lib/draw.c tests/lib/draw.h \
	tests/lib/shift_load.c tests/lib/shift_load.h \
	tests/lib/edit.c tests/lib/edit.h
libftrtest_a_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests

check_PROGRAMS += tests/unit/test_core
tests_unit_test_core_SOURCES = tests/unit/test_core.c
tests_unit_test_core_CFLAGS = $(CHECK_TEST_CFLAGS)
tests_unit_test_core_LDADD = $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/unit/test_no_memory
CHAINS = tests/unit/chains.c tests/unit/chains.h
WRAP_ALLOC = -Wl,--wrap=ftr_malloc -Wl,--wrap=ftr_calloc \
	-Wl,--wrap=ftr_reallocarray -Wl,--wrap=ftr_aligned -Wl,--wrap=ftr_grow \
	-Wl,--wrap=ftr_arena_new -Wl,--wrap=ftr_arena_alloc -Wl,--wrap=ftr_arena_zalloc \
	-Wl,--wrap=ftr_arena_strndup -Wl,--wrap=ftr_strdup -Wl,--wrap=ftr_fdopen \
	-Wl,--wrap=ftr_opendir -Wl,--wrap=ftr_memstream -Wl,--wrap=ftr_memstream_end \
	-Wl,--wrap=ftr_asprintf
tests_unit_test_no_memory_SOURCES = tests/unit/test_no_memory.c tests/unit/no_memory_files.c \
	tests/unit/no_memory_shapes.c tests/unit/no_memory.h $(CHAINS)
tests_unit_test_no_memory_CFLAGS = $(CHECK_TEST_CFLAGS) -Wno-missing-prototypes
tests_unit_test_no_memory_LDFLAGS = $(WRAP_ALLOC)
tests_unit_test_no_memory_LDADD = libhelper.a libftrtest.a $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/unit/test_file
tests_unit_test_file_SOURCES = tests/unit/test_file.c
tests_unit_test_file_CFLAGS = $(CHECK_TEST_CFLAGS) -Wno-missing-prototypes
tests_unit_test_file_LDFLAGS = -Wl,--wrap=fstat -Wl,--wrap=pread -Wl,--wrap=ftruncate \
	-Wl,--wrap=write -Wl,--wrap=close -Wl,--wrap=fclose
tests_unit_test_file_LDADD = $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/unit/test_fabric
tests_unit_test_fabric_SOURCES = tests/unit/test_fabric.c
tests_unit_test_fabric_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_unit_test_fabric_LDADD = libftrtest.a $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/unit/test_write_order
tests_unit_test_write_order_SOURCES = tests/unit/test_write_order.c
tests_unit_test_write_order_CFLAGS = $(CHECK_TEST_CFLAGS)
tests_unit_test_write_order_LDADD = libftrtest.a $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/unit/test_hosts
tests_unit_test_hosts_SOURCES = tests/unit/test_hosts.c tests/unit/io_util.h
tests_unit_test_hosts_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_unit_test_hosts_LDADD = libftrtest.a $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/unit/test_shape
tests_unit_test_shape_SOURCES = tests/unit/test_shape.c
tests_unit_test_shape_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_unit_test_shape_LDADD = libftrtest.a $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/unit/test_ddlr
tests_unit_test_ddlr_SOURCES = tests/unit/test_ddlr.c
tests_unit_test_ddlr_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_unit_test_ddlr_LDADD = libftrtest.a $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/unit/test_balance tests/unit/test_balance_steps
tests_unit_test_balance_SOURCES = tests/unit/test_balance.c
tests_unit_test_balance_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_unit_test_balance_LDADD = libftrtest.a $(CHECK_TEST_LDADD)
tests_unit_test_balance_steps_SOURCES = tests/unit/test_balance_steps.c
tests_unit_test_balance_steps_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_unit_test_balance_steps_LDADD = libftrtest.a $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/unit/test_nominal tests/unit/test_state_file \
	tests/unit/test_nominal_places tests/unit/test_nominal_claims
tests_unit_test_nominal_claims_SOURCES = tests/unit/test_nominal_claims.c \
	tests/unit/grown.h
tests_unit_test_nominal_claims_CFLAGS = $(CHECK_TEST_CFLAGS) \
	-I$(top_srcdir)/tests
tests_unit_test_nominal_claims_LDADD = libftrtest.a $(CHECK_TEST_LDADD)
tests_unit_test_nominal_places_SOURCES = tests/unit/test_nominal_places.c \
	tests/unit/grown.h
tests_unit_test_nominal_places_CFLAGS = $(CHECK_TEST_CFLAGS) \
	-I$(top_srcdir)/tests
tests_unit_test_nominal_places_LDADD = libftrtest.a $(CHECK_TEST_LDADD)
tests_unit_test_nominal_SOURCES = tests/unit/test_nominal.c tests/unit/grown.h
tests_unit_test_nominal_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_unit_test_nominal_LDADD = libftrtest.a $(CHECK_TEST_LDADD)
tests_unit_test_state_file_SOURCES = tests/unit/test_state_file.c
tests_unit_test_state_file_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_unit_test_state_file_LDADD = libftrtest.a $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/unit/test_io tests/unit/test_io_tables \
	tests/unit/test_io_fuzz tests/unit/test_gen tests/unit/test_superpod
IO_TEST_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_unit_test_io_SOURCES = tests/unit/test_io.c tests/unit/io_util.h
tests_unit_test_io_CFLAGS = $(IO_TEST_CFLAGS)
tests_unit_test_io_LDADD = $(CHECK_TEST_LDADD)
tests_unit_test_io_tables_SOURCES = tests/unit/test_io_tables.c
tests_unit_test_io_tables_CFLAGS = $(IO_TEST_CFLAGS)
tests_unit_test_io_tables_LDADD = $(CHECK_TEST_LDADD)
tests_unit_test_io_fuzz_SOURCES = tests/unit/test_io_fuzz.c
tests_unit_test_io_fuzz_CFLAGS = $(IO_TEST_CFLAGS)
tests_unit_test_io_fuzz_LDADD = $(CHECK_TEST_LDADD)
tests_unit_test_superpod_SOURCES = tests/unit/test_superpod.c
tests_unit_test_superpod_CFLAGS = $(IO_TEST_CFLAGS)
tests_unit_test_superpod_LDADD = $(CHECK_TEST_LDADD)
tests_unit_test_gen_SOURCES = tests/unit/test_gen.c \
	tests/lib/random_graph.c tests/lib/random_graph.h
tests_unit_test_gen_CFLAGS = $(IO_TEST_CFLAGS)
tests_unit_test_gen_LDADD = $(CHECK_TEST_LDADD)

if HAVE_OPENSM
check_PROGRAMS += tests/unit/test_osm_options tests/unit/test_osm_parts \
	tests/unit/test_osm_stree
check_PROGRAMS += tests/unit/test_rr_links tests/unit/test_rr_state tests/unit/test_rr_closure
tests_unit_test_rr_closure_SOURCES = tests/unit/test_rr_closure.c
tests_unit_test_rr_closure_CFLAGS = $(CHECK_TEST_CFLAGS)
tests_unit_test_rr_closure_LDADD = libreroute.a libhelper.a $(CHECK_TEST_LDADD)
tests_unit_test_rr_links_SOURCES = tests/unit/test_rr_links.c
tests_unit_test_rr_links_CFLAGS = $(CHECK_TEST_CFLAGS)
tests_unit_test_rr_links_LDADD = libreroute.a libhelper.a $(CHECK_TEST_LDADD)
tests_unit_test_rr_state_SOURCES = tests/unit/test_rr_state.c
tests_unit_test_rr_state_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_unit_test_rr_state_LDADD = libftrtest.a libreroute.a libhelper.a \
	$(CHECK_TEST_LDADD)
check_PROGRAMS += tests/unit/test_spared
tests_unit_test_spared_SOURCES = tests/unit/test_spared.c
tests_unit_test_spared_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_unit_test_spared_LDADD = libftrtest.a libreroute.a libhelper.a $(CHECK_TEST_LDADD)
tests_unit_test_osm_parts_SOURCES = tests/unit/test_osm_parts.c
tests_unit_test_osm_parts_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_unit_test_osm_parts_LDADD = libftrtest.a libreroute.a libhelper.a \
	$(CHECK_TEST_LDADD)
tests_unit_test_osm_options_SOURCES = tests/unit/test_osm_options.c
tests_unit_test_osm_options_CFLAGS = $(CHECK_TEST_CFLAGS)
tests_unit_test_osm_options_LDADD = libibfcore.a $(CHECK_TEST_LDADD)
tests_unit_test_osm_stree_SOURCES = tests/unit/test_osm_stree.c
tests_unit_test_osm_stree_CFLAGS = $(CHECK_TEST_CFLAGS)
tests_unit_test_osm_stree_LDADD = libibfcore.a $(CHECK_TEST_LDADD)

# The plugin in a fake OpenSM; only the structures and the dispatcher are real.
check_LIBRARIES += libfake.a
libfake_a_SOURCES = tests/fake/opensm.c tests/fake/opensm.h tests/fake/judge.c \
	tests/fake/settle.c tests/fake/sweep.c tests/fake/vclock.c tests/fake/wire.c
libfake_a_CPPFLAGS = $(AM_CPPFLAGS) $(OSM_CFLAGS) -I$(top_srcdir)/tests
libfake_a_CFLAGS = $(CHECK_TEST_CFLAGS)

check_PROGRAMS += tests/unit/test_fast tests/unit/test_fast_end \
	tests/unit/test_fast_loss tests/unit/test_fast_race \
	tests/unit/test_fast_due tests/unit/test_fast_event \
	tests/unit/test_fast_random tests/unit/test_fast_sweep \
	tests/unit/test_fast_lies tests/unit/test_fast_memory \
	tests/unit/test_fast_flat tests/unit/test_fast_scale \
	tests/unit/test_fast_trees tests/unit/test_fast_planner \
	tests/unit/test_takeover tests/unit/test_transition tests/unit/test_unacknowledged \
	tests/unit/test_writer tests/unit/test_silent
FAKE_CPPFLAGS = $(AM_CPPFLAGS) $(OSM_CFLAGS) -I$(top_srcdir)/tests
# twice, because the plugin and the fake OpenSM call each other
FAKE_LDADD = libfake.a $(PLUGIN_LIBS) libfake.a $(CHECK_TEST_LDADD) $(OSMCOMP_LIBS)
tests_unit_test_fast_SOURCES = tests/unit/test_fast.c
tests_unit_test_fast_CPPFLAGS = $(FAKE_CPPFLAGS)
tests_unit_test_fast_CFLAGS = $(CHECK_TEST_CFLAGS)
tests_unit_test_fast_LDADD = $(FAKE_LDADD)
check_PROGRAMS += tests/unit/test_kept tests/unit/test_osm_nominal tests/unit/test_reboot \
	tests/unit/test_search tests/unit/test_helper tests/unit/test_osm_values
tests_unit_test_osm_values_SOURCES = tests/unit/test_osm_values.c
tests_unit_test_osm_values_CPPFLAGS = $(FAKE_CPPFLAGS)
tests_unit_test_osm_values_CFLAGS = $(CHECK_TEST_CFLAGS)
tests_unit_test_osm_values_LDADD = libftrtest.a $(FAKE_LDADD)
tests_unit_test_helper_SOURCES = tests/unit/test_helper.c tests/unit/bad_helper.h
tests_unit_test_helper_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_unit_test_helper_LDFLAGS = -Wl,--wrap=waitpid
tests_unit_test_helper_LDADD = libhelper.a libftrtest.a $(CHECK_TEST_LDADD)
# The program ibfattree-helper, which fails.
noinst_PROGRAMS += bad-helper
bad_helper_SOURCES = tests/unit/bad_helper.c
bad_helper_CFLAGS = $(AM_CFLAGS) -Wno-missing-prototypes
bad_helper_LDFLAGS = -Wl,--wrap=ftr_out_fd
bad_helper_LDADD = libhelper.a libftrcore.a
tests_unit_test_search_SOURCES = tests/unit/test_search.c tests/unit/bad_helper.h
tests_unit_test_search_CPPFLAGS = $(FAKE_CPPFLAGS)
tests_unit_test_search_CFLAGS = $(CHECK_TEST_CFLAGS) -Wno-missing-prototypes
tests_unit_test_search_LDFLAGS = -Wl,--wrap=ftr_check_tables
tests_unit_test_search_LDADD = libftrtest.a $(FAKE_LDADD)
tests_unit_test_reboot_SOURCES = tests/unit/test_reboot.c
tests_unit_test_reboot_CPPFLAGS = $(FAKE_CPPFLAGS)
tests_unit_test_reboot_CFLAGS = $(CHECK_TEST_CFLAGS)
tests_unit_test_reboot_LDADD = libftrtest.a $(FAKE_LDADD)
tests_unit_test_kept_SOURCES = tests/unit/test_kept.c
tests_unit_test_kept_CPPFLAGS = $(FAKE_CPPFLAGS)
tests_unit_test_kept_CFLAGS = $(CHECK_TEST_CFLAGS)
tests_unit_test_kept_LDADD = libftrtest.a $(FAKE_LDADD)
tests_unit_test_osm_nominal_SOURCES = tests/unit/test_osm_nominal.c
tests_unit_test_osm_nominal_CPPFLAGS = $(FAKE_CPPFLAGS)
tests_unit_test_osm_nominal_CFLAGS = $(CHECK_TEST_CFLAGS)
tests_unit_test_osm_nominal_LDADD = libftrtest.a $(FAKE_LDADD)
tests_unit_test_fast_lies_SOURCES = tests/unit/test_fast_lies.c
tests_unit_test_fast_lies_CPPFLAGS = $(FAKE_CPPFLAGS)
tests_unit_test_fast_lies_CFLAGS = $(CHECK_TEST_CFLAGS)
tests_unit_test_fast_lies_LDADD = libftrtest.a $(FAKE_LDADD)
tests_unit_test_fast_memory_SOURCES = tests/unit/test_fast_memory.c $(CHAINS)
tests_unit_test_fast_memory_CPPFLAGS = $(FAKE_CPPFLAGS)
tests_unit_test_fast_memory_CFLAGS = $(CHECK_TEST_CFLAGS) -Wno-missing-prototypes
tests_unit_test_fast_memory_LDFLAGS = $(WRAP_ALLOC)
tests_unit_test_fast_memory_LDADD = $(FAKE_LDADD)
check_PROGRAMS += tests/unit/test_osm_prefer tests/unit/test_osm_errors tests/unit/test_osm_calls \
	tests/unit/test_osm_odd tests/unit/test_osm_states tests/unit/test_osm_tables
tests_unit_test_osm_tables_SOURCES = tests/unit/test_osm_tables.c
tests_unit_test_osm_tables_CPPFLAGS = $(FAKE_CPPFLAGS)
tests_unit_test_osm_tables_CFLAGS = $(CHECK_TEST_CFLAGS)
tests_unit_test_osm_tables_LDADD = libftrtest.a $(FAKE_LDADD)
tests_unit_test_osm_states_SOURCES = tests/unit/test_osm_states.c
tests_unit_test_osm_states_CPPFLAGS = $(FAKE_CPPFLAGS)
tests_unit_test_osm_states_CFLAGS = $(CHECK_TEST_CFLAGS)
tests_unit_test_osm_states_LDADD = libftrtest.a $(FAKE_LDADD)
tests_unit_test_osm_odd_SOURCES = tests/unit/test_osm_odd.c
tests_unit_test_osm_odd_CPPFLAGS = $(FAKE_CPPFLAGS)
tests_unit_test_osm_odd_CFLAGS = $(CHECK_TEST_CFLAGS)
tests_unit_test_osm_odd_LDADD = libftrtest.a $(FAKE_LDADD)
tests_unit_test_osm_calls_SOURCES = tests/unit/test_osm_calls.c tests/unit/fast_plans.h
tests_unit_test_osm_calls_CPPFLAGS = $(FAKE_CPPFLAGS)
tests_unit_test_osm_calls_CFLAGS = $(CHECK_TEST_CFLAGS) -Wno-missing-prototypes
tests_unit_test_osm_calls_LDFLAGS = -Wl,--wrap=pthread_create -Wl,--wrap=cl_disp_register \
	-Wl,--wrap=osm_vendor_bind -Wl,--wrap=osm_vendor_send -Wl,--wrap=osm_mad_pool_get \
	-Wl,--wrap=osm_register_external_routing_engine -Wl,--wrap=ftr_check_changes \
	-Wl,--wrap=rr_planner_events
tests_unit_test_osm_calls_LDADD = libftrtest.a $(FAKE_LDADD)
tests_unit_test_osm_prefer_SOURCES = tests/unit/test_osm_prefer.c
tests_unit_test_osm_prefer_CPPFLAGS = $(FAKE_CPPFLAGS)
tests_unit_test_osm_prefer_CFLAGS = $(CHECK_TEST_CFLAGS)
tests_unit_test_osm_prefer_LDADD = libftrtest.a $(FAKE_LDADD)
tests_unit_test_osm_errors_SOURCES = tests/unit/test_osm_errors.c $(CHAINS)
tests_unit_test_osm_errors_CPPFLAGS = $(FAKE_CPPFLAGS)
tests_unit_test_osm_errors_CFLAGS = $(CHECK_TEST_CFLAGS) -Wno-missing-prototypes
tests_unit_test_osm_errors_LDFLAGS = $(WRAP_ALLOC)
tests_unit_test_osm_errors_LDADD = libftrtest.a $(FAKE_LDADD)
tests_unit_test_fast_flat_SOURCES = tests/unit/test_fast_flat.c
tests_unit_test_fast_flat_CPPFLAGS = $(FAKE_CPPFLAGS)
tests_unit_test_fast_flat_CFLAGS = $(CHECK_TEST_CFLAGS)
tests_unit_test_fast_flat_LDADD = $(FAKE_LDADD)
tests_unit_test_fast_scale_SOURCES = tests/unit/test_fast_scale.c
tests_unit_test_fast_scale_CPPFLAGS = $(FAKE_CPPFLAGS)
tests_unit_test_fast_scale_CFLAGS = $(CHECK_TEST_CFLAGS)
tests_unit_test_fast_scale_LDADD = $(FAKE_LDADD)
tests_unit_test_fast_trees_SOURCES = tests/unit/test_fast_trees.c
tests_unit_test_fast_trees_CPPFLAGS = $(FAKE_CPPFLAGS)
tests_unit_test_fast_trees_CFLAGS = $(CHECK_TEST_CFLAGS)
tests_unit_test_fast_trees_LDADD = libftrtest.a $(FAKE_LDADD)
tests_unit_test_silent_SOURCES = tests/unit/test_silent.c tests/unit/shortest.h
tests_unit_test_silent_CPPFLAGS = $(FAKE_CPPFLAGS)
tests_unit_test_silent_CFLAGS = $(CHECK_TEST_CFLAGS)
tests_unit_test_silent_LDADD = libftrtest.a $(FAKE_LDADD)

tests_unit_test_takeover_SOURCES = tests/unit/test_takeover.c tests/unit/shortest.h
tests_unit_test_takeover_CPPFLAGS = $(FAKE_CPPFLAGS)
tests_unit_test_takeover_CFLAGS = $(CHECK_TEST_CFLAGS)
tests_unit_test_takeover_LDADD = libftrtest.a $(FAKE_LDADD)
tests_unit_test_unacknowledged_SOURCES = tests/unit/test_unacknowledged.c
tests_unit_test_unacknowledged_CPPFLAGS = $(FAKE_CPPFLAGS)
tests_unit_test_unacknowledged_CFLAGS = $(CHECK_TEST_CFLAGS)
tests_unit_test_unacknowledged_LDADD = libftrtest.a $(FAKE_LDADD)
tests_unit_test_transition_SOURCES = tests/unit/test_transition.c tests/unit/deaf.h tests/unit/excuses.h \
	tests/unit/run_files.h \
	tests/unit/eye.h
tests_unit_test_transition_CPPFLAGS = $(FAKE_CPPFLAGS)
tests_unit_test_transition_CFLAGS = $(CHECK_TEST_CFLAGS)
tests_unit_test_transition_LDADD = libftrtest.a $(FAKE_LDADD)
tests_unit_test_writer_SOURCES = tests/unit/test_writer.c tests/unit/bad_helper.h
tests_unit_test_writer_CPPFLAGS = $(FAKE_CPPFLAGS)
tests_unit_test_writer_CFLAGS = $(CHECK_TEST_CFLAGS)
tests_unit_test_writer_LDADD = $(FAKE_LDADD)
tests_unit_test_fast_event_SOURCES = tests/unit/test_fast_event.c
tests_unit_test_fast_event_CPPFLAGS = $(FAKE_CPPFLAGS)
tests_unit_test_fast_event_CFLAGS = $(CHECK_TEST_CFLAGS) $(JSONC_CFLAGS)
tests_unit_test_fast_event_LDADD = $(FAKE_LDADD) $(JSONC_LIBS)
check_PROGRAMS += tests/unit/test_osm_layout
tests_unit_test_osm_layout_SOURCES = tests/unit/test_osm_layout.c
tests_unit_test_osm_layout_CPPFLAGS = $(FAKE_CPPFLAGS)
tests_unit_test_osm_layout_CFLAGS = $(CHECK_TEST_CFLAGS)
tests_unit_test_osm_layout_LDADD = $(FAKE_LDADD)
tests_unit_test_fast_end_SOURCES = tests/unit/test_fast_end.c
tests_unit_test_fast_end_CPPFLAGS = $(FAKE_CPPFLAGS)
tests_unit_test_fast_end_CFLAGS = $(CHECK_TEST_CFLAGS)
tests_unit_test_fast_end_LDADD = libftrtest.a $(FAKE_LDADD)
tests_unit_test_fast_loss_SOURCES = tests/unit/test_fast_loss.c
tests_unit_test_fast_loss_CPPFLAGS = $(FAKE_CPPFLAGS)
tests_unit_test_fast_loss_CFLAGS = $(CHECK_TEST_CFLAGS)
tests_unit_test_fast_loss_LDADD = libftrtest.a $(FAKE_LDADD)
tests_unit_test_fast_due_SOURCES = tests/unit/test_fast_due.c \
	tests/unit/fast_plans.h
tests_unit_test_fast_due_CPPFLAGS = $(FAKE_CPPFLAGS)
tests_unit_test_fast_due_CFLAGS = $(CHECK_TEST_CFLAGS)
tests_unit_test_fast_due_LDADD = $(FAKE_LDADD)
tests_unit_test_fast_planner_SOURCES = tests/unit/test_fast_planner.c tests/unit/bad_helper.h \
	tests/unit/fast_plans.h
tests_unit_test_fast_planner_CPPFLAGS = $(FAKE_CPPFLAGS)
tests_unit_test_fast_planner_CFLAGS = $(CHECK_TEST_CFLAGS)
tests_unit_test_fast_planner_LDADD = $(FAKE_LDADD)
tests_unit_test_fast_race_SOURCES = tests/unit/test_fast_race.c \
	tests/unit/fast_plans.h
tests_unit_test_fast_race_CPPFLAGS = $(FAKE_CPPFLAGS)
tests_unit_test_fast_race_CFLAGS = $(CHECK_TEST_CFLAGS)
tests_unit_test_fast_race_LDADD = $(FAKE_LDADD)
tests_unit_test_fast_random_SOURCES = tests/unit/test_fast_random.c
tests_unit_test_fast_random_CPPFLAGS = $(FAKE_CPPFLAGS)
tests_unit_test_fast_random_CFLAGS = $(CHECK_TEST_CFLAGS)
tests_unit_test_fast_random_LDADD = libftrtest.a $(FAKE_LDADD)
tests_unit_test_fast_sweep_SOURCES = tests/unit/test_fast_sweep.c \
	tests/unit/fast_plans.h
tests_unit_test_fast_sweep_CPPFLAGS = $(FAKE_CPPFLAGS)
tests_unit_test_fast_sweep_CFLAGS = $(CHECK_TEST_CFLAGS)
tests_unit_test_fast_sweep_LDADD = $(FAKE_LDADD)

# scripts/test soak runs it with FTR_RUNS=67: 10,000 fabrics
check_PROGRAMS += tests/unit/test_reach
tests_unit_test_reach_SOURCES = tests/unit/test_reach.c
tests_unit_test_reach_CPPFLAGS = $(FAKE_CPPFLAGS)
tests_unit_test_reach_CFLAGS = $(CHECK_TEST_CFLAGS)
tests_unit_test_reach_LDADD = libftrtest.a $(FAKE_LDADD)

check_PROGRAMS += tests/unit/test_turns
tests_unit_test_turns_SOURCES = tests/unit/test_turns.c
tests_unit_test_turns_CPPFLAGS = $(FAKE_CPPFLAGS)
tests_unit_test_turns_CFLAGS = $(CHECK_TEST_CFLAGS)
tests_unit_test_turns_LDADD = libftrtest.a $(FAKE_LDADD)
endif

# Tests of the command, linked with all of it except its main().

check_PROGRAMS += tests/prop/test_pairs
tests_prop_test_pairs_SOURCES = tests/prop/test_pairs.c
tests_prop_test_pairs_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_prop_test_pairs_LDADD = libftrtest.a libsuite.a $(ibfattree_LDADD) $(CHECK_LIBS)

# Tests of the command in a pseudo terminal; forkpty and openpty are in libutil.
check_PROGRAMS += tests/unit/test_output
tests_unit_test_output_SOURCES = tests/unit/test_output.c
tests_unit_test_output_CFLAGS = $(CHECK_TEST_CFLAGS)
tests_unit_test_output_LDADD = libsuite.a $(ibfattree_LDADD) $(CHECK_LIBS) -lutil

check_PROGRAMS += tests/unit/test_top
tests_unit_test_top_SOURCES = tests/unit/test_top.c
tests_unit_test_top_CFLAGS = $(CHECK_TEST_CFLAGS)
tests_unit_test_top_LDADD = libsuite.a $(CHECK_LIBS) -lutil

check_PROGRAMS += tests/unit/test_check tests/unit/test_check_oracle tests/unit/test_claims
tests_unit_test_check_SOURCES = tests/unit/test_check.c tests/unit/check_net.h
tests_unit_test_check_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_unit_test_check_LDADD = libftrtest.a $(CHECK_TEST_LDADD)
tests_unit_test_claims_SOURCES = tests/unit/test_claims.c tests/unit/check_net.h
tests_unit_test_claims_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_unit_test_claims_LDADD = libftrtest.a $(CHECK_TEST_LDADD)
tests_unit_test_check_oracle_SOURCES = tests/unit/test_check_oracle.c \
	tests/unit/check_net.h
tests_unit_test_check_oracle_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_unit_test_check_oracle_LDADD = libftrtest.a $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/unit/test_io_vls
tests_unit_test_io_vls_SOURCES = tests/unit/test_io_vls.c \
	tests/unit/io_util.h
tests_unit_test_io_vls_CFLAGS = $(IO_TEST_CFLAGS)
tests_unit_test_io_vls_LDADD = $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/unit/test_vl_pairs
tests_unit_test_vl_pairs_SOURCES = tests/unit/test_vl_pairs.c
tests_unit_test_vl_pairs_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_unit_test_vl_pairs_LDADD = libftrtest.a $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/unit/test_vl_loops
tests_unit_test_vl_loops_SOURCES = tests/unit/test_vl_loops.c tests/unit/check_net.h
tests_unit_test_vl_loops_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_unit_test_vl_loops_LDADD = $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/unit/test_load
tests_unit_test_load_SOURCES = tests/unit/test_load.c tests/unit/check_net.h
tests_unit_test_load_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_unit_test_load_LDADD = libftrtest.a $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/unit/test_sim
tests_unit_test_sim_SOURCES = tests/unit/test_sim.c tests/unit/check_net.h
tests_unit_test_sim_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sim_LDADD = libftrtools.a $(CHECK_TEST_LDADD)

# with the routing functions of tests/seeds/models
MODELS_TEST_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests/seeds
check_PROGRAMS += tests/unit/test_sim_theorems
tests_unit_test_sim_theorems_SOURCES = tests/unit/test_sim_theorems.c \
	tests/unit/walk.h
tests_unit_test_sim_theorems_CFLAGS = $(MODELS_TEST_CFLAGS)
tests_unit_test_sim_theorems_LDADD = libmodels.a $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/unit/test_sim_functions
tests_unit_test_sim_functions_SOURCES = tests/unit/test_sim_functions.c \
	tests/unit/walk.h
tests_unit_test_sim_functions_CFLAGS = $(MODELS_TEST_CFLAGS)
tests_unit_test_sim_functions_LDADD = libmodels.a $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/unit/test_sim_messages
tests_unit_test_sim_messages_SOURCES = tests/unit/test_sim_messages.c
tests_unit_test_sim_messages_CFLAGS = $(MODELS_TEST_CFLAGS)
tests_unit_test_sim_messages_LDADD = libmodels.a $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/unit/test_sim_immunet
tests_unit_test_sim_immunet_SOURCES = tests/unit/test_sim_immunet.c
tests_unit_test_sim_immunet_CFLAGS = $(MODELS_TEST_CFLAGS)
tests_unit_test_sim_immunet_LDADD = libmodels.a libftrtest.a $(CHECK_TEST_LDADD)
endif
EXTRA_DIST += tests/fuzz tests/upstream/run tests/upstream/events.c
