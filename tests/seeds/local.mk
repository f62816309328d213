# Programs of tests/seeds/run.  They are built at the top of the build directory, because
# the directory tests/seeds goes into releases as it is.
noinst_PROGRAMS += rerouting immunet outputs sssp static closed published_sftree
rerouting_SOURCES = tests/seeds/rerouting.c tests/ddlr/fault_state.c \
	tests/ddlr/fault_state.h
rerouting_CFLAGS = $(AM_CFLAGS) -I$(top_srcdir)/tests
rerouting_LDADD = libftrtools.la libftrcore.la
immunet_SOURCES = tests/seeds/immunet_runs.c
immunet_LDADD = libftrtools.la libftrcore.la
outputs_SOURCES = tests/seeds/outputs.c
outputs_LDADD = libftrtools.la libftrcore.la
sssp_SOURCES = tests/seeds/sssp.c
sssp_LDADD = libftrtools.la libftrcore.la
static_SOURCES = tests/seeds/static.c
static_LDADD = libftrtools.la libftrcore.la
closed_SOURCES = tests/seeds/closed.c
closed_LDADD = libftrtools.la libftrcore.la
published_sftree_SOURCES = tests/seeds/published_sftree.c tests/lib/subtree.c tests/lib/subtree.h
published_sftree_CFLAGS = $(AM_CFLAGS) -I$(top_srcdir)/tests
published_sftree_LDADD = libftrtools.la libftrcore.la

# A plugin that writes the SLs of stock engines, see tests/seeds/stock.sh.
if HAVE_OPENSM
noinst_LTLIBRARIES += libibfvls.la
libibfvls_la_SOURCES = tests/seeds/vls.c
libibfvls_la_CPPFLAGS = $(AM_CPPFLAGS) $(OSM_CFLAGS)
libibfvls_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared \
	-rpath $(libdir)
endif
