# Property tests over random fabrics.  FTR_SEED=N starts at seed N; FTR_RUNS
# multiplies the number of fabrics.
if HAVE_CHECK
libftrtest_a_SOURCES += tests/lib/oracle.c tests/lib/oracle.h \
	tests/lib/trees.c tests/lib/trees.h tests/lib/oracle_slots.c \
	tests/lib/oracle_slots.h tests/lib/oracle_place.c \
	tests/lib/oracle_place.h tests/lib/deps.c tests/lib/deps.h \
	tests/lib/recount.c tests/lib/recount.h \
	tests/lib/follow.c tests/lib/follow.h \
	tests/lib/orders.c tests/lib/orders.h \
	tests/lib/random_graph.c tests/lib/random_graph.h \
	tests/lib/dual.c tests/lib/dual.h tests/lib/subtree.c tests/lib/subtree.h

check_PROGRAMS += tests/prop/test_dmodc
tests_prop_test_dmodc_SOURCES = tests/prop/test_dmodc.c
tests_prop_test_dmodc_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_prop_test_dmodc_LDADD = libftrtest.a $(CHECK_TEST_LDADD)

libftrtest_a_SOURCES += tests/lib/irregular.c tests/lib/irregular.h

check_PROGRAMS += tests/prop/test_builder
tests_prop_test_builder_SOURCES = tests/prop/test_builder.c
tests_prop_test_builder_CFLAGS = $(CHECK_TEST_CFLAGS)
tests_prop_test_builder_LDADD = libftrtest.a $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/prop/test_base
tests_prop_test_base_SOURCES = tests/prop/test_base.c
tests_prop_test_base_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_prop_test_base_LDADD = libftrtest.a $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/prop/test_connect
tests_prop_test_connect_SOURCES = tests/prop/test_connect.c
tests_prop_test_connect_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_prop_test_connect_LDADD = libftrtest.a $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/prop/test_drain
tests_prop_test_drain_SOURCES = tests/prop/test_drain.c
tests_prop_test_drain_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_prop_test_drain_LDADD = libftrtest.a $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/prop/test_turn_changes
tests_prop_test_turn_changes_SOURCES = tests/prop/test_turn_changes.c
tests_prop_test_turn_changes_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_prop_test_turn_changes_LDADD = libftrtest.a $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/prop/test_sftree
tests_prop_test_sftree_SOURCES = tests/prop/test_sftree.c tests/prop/sftree_both.h
tests_prop_test_sftree_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_prop_test_sftree_LDADD = libftrtest.a $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/prop/test_sftree_paper
tests_prop_test_sftree_paper_SOURCES = tests/prop/test_sftree_paper.c \
	tests/prop/sftree_both.h
tests_prop_test_sftree_paper_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_prop_test_sftree_paper_LDADD = libftrtest.a $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/prop/test_old_ranks
tests_prop_test_old_ranks_SOURCES = tests/prop/test_old_ranks.c
tests_prop_test_old_ranks_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_prop_test_old_ranks_LDADD = libftrtest.a $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/prop/test_nominal_random
tests_prop_test_nominal_random_SOURCES = tests/prop/test_nominal_random.c
tests_prop_test_nominal_random_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_prop_test_nominal_random_LDADD = libftrtest.a $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/prop/test_replace
tests_prop_test_replace_SOURCES = tests/prop/test_replace.c
tests_prop_test_replace_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_prop_test_replace_LDADD = libftrtest.a $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/prop/test_roots
tests_prop_test_roots_SOURCES = tests/prop/test_roots.c
tests_prop_test_roots_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_prop_test_roots_LDADD = libftrtest.a $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/prop/test_ranks
tests_prop_test_ranks_SOURCES = tests/prop/test_ranks.c
tests_prop_test_ranks_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_prop_test_ranks_LDADD = libftrtest.a $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/prop/test_place
tests_prop_test_place_SOURCES = tests/prop/test_place.c
tests_prop_test_place_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_prop_test_place_LDADD = libftrtest.a $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/prop/test_chassis
tests_prop_test_chassis_SOURCES = tests/prop/test_chassis.c
tests_prop_test_chassis_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_prop_test_chassis_LDADD = libftrtest.a $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/prop/test_root
tests_prop_test_root_SOURCES = tests/prop/test_root.c tests/prop/sftree_both.h
tests_prop_test_root_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_prop_test_root_LDADD = libftrtest.a $(CHECK_TEST_LDADD)

libftrtest_a_SOURCES += tests/lib/world.c tests/lib/world.h tests/lib/switch_events.h \
	tests/lib/drain_file.h

check_PROGRAMS += tests/prop/test_balance_recount
tests_prop_test_balance_recount_SOURCES = tests/prop/test_balance_recount.c
tests_prop_test_balance_recount_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_prop_test_balance_recount_LDADD = libftrtest.a $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/prop/test_flow_count
tests_prop_test_flow_count_SOURCES = tests/prop/test_flow_count.c
tests_prop_test_flow_count_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_prop_test_flow_count_LDADD = libftrtest.a $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/prop/test_displaced
tests_prop_test_displaced_SOURCES = tests/prop/test_displaced.c
tests_prop_test_displaced_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_prop_test_displaced_LDADD = libftrtest.a $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/prop/test_incremental
tests_prop_test_incremental_SOURCES = tests/prop/test_incremental.c
tests_prop_test_incremental_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_prop_test_incremental_LDADD = libftrtest.a $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/prop/test_write_steps
tests_prop_test_write_steps_SOURCES = tests/prop/test_write_steps.c
tests_prop_test_write_steps_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_prop_test_write_steps_LDADD = libftrtest.a $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/prop/test_changes
tests_prop_test_changes_SOURCES = tests/prop/test_changes.c
tests_prop_test_changes_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_prop_test_changes_LDADD = libftrtest.a $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/prop/test_repair
tests_prop_test_repair_SOURCES = tests/prop/test_repair.c
tests_prop_test_repair_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_prop_test_repair_LDADD = libftrtest.a $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/prop/test_sim_steps
tests_prop_test_sim_steps_SOURCES = tests/prop/test_sim_steps.c
tests_prop_test_sim_steps_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_prop_test_sim_steps_LDADD = libftrtest.a $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/prop/test_ddlr_transition
tests_prop_test_ddlr_transition_SOURCES = tests/prop/test_ddlr_transition.c
tests_prop_test_ddlr_transition_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_prop_test_ddlr_transition_LDADD = libftrtest.a $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/prop/test_cdg
tests_prop_test_cdg_SOURCES = tests/prop/test_cdg.c
tests_prop_test_cdg_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_prop_test_cdg_LDADD = libftrtest.a $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/prop/test_sim_slow
tests_prop_test_sim_slow_SOURCES = tests/prop/test_sim_slow.c
tests_prop_test_sim_slow_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_prop_test_sim_slow_LDADD = libftrtest.a libftrtools.a $(CHECK_TEST_LDADD)

check_PROGRAMS += tests/prop/test_odd tests/prop/test_odd_random
tests_prop_test_odd_random_SOURCES = tests/prop/test_odd_random.c
tests_prop_test_odd_random_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_prop_test_odd_random_LDADD = libftrtest.a $(CHECK_TEST_LDADD)
tests_prop_test_odd_SOURCES = tests/prop/test_odd.c
EXTRA_DIST += tests/prop/odd
tests_prop_test_odd_CFLAGS = $(CHECK_TEST_CFLAGS) -I$(top_srcdir)/tests
tests_prop_test_odd_LDADD = libftrtest.a $(CHECK_TEST_LDADD)
endif
