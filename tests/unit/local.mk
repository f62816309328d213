# tests/unit

if HAVE_CHECK
if HAVE_OPENSM
check_PROGRAMS += test_osm_options test_osm_stree
test_osm_options_SOURCES = tests/unit/test_osm_options.c
test_osm_options_CFLAGS = $(CHECK_TEST_CFLAGS)
test_osm_options_LDADD = libibfcore.la $(CHECK_TEST_LDADD)
test_osm_stree_SOURCES = tests/unit/test_osm_stree.c
test_osm_stree_CFLAGS = $(CHECK_TEST_CFLAGS)
test_osm_stree_LDADD = libibfcore.la $(CHECK_TEST_LDADD)
endif
endif
