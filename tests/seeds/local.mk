# Programs of tests/seeds/run.  They are built at the top of the build directory, because
# the directory tests/seeds goes into releases as it is.
noinst_PROGRAMS += rerouting immunet outputs sssp static closed published_sftree
rerouting_SOURCES = tests/seeds/rerouting.c tests/ddlr/fault_state.c \
	tests/ddlr/fault_state.h
rerouting_CFLAGS = $(AM_CFLAGS) -I$(top_srcdir)/tests
rerouting_LDADD = libftrtools.a libftrcore.a
immunet_SOURCES = tests/seeds/immunet_runs.c
immunet_LDADD = libftrtools.a libftrcore.a
outputs_SOURCES = tests/seeds/outputs.c
outputs_LDADD = libftrtools.a libftrcore.a
sssp_SOURCES = tests/seeds/sssp.c
sssp_LDADD = libftrtools.a libftrcore.a
static_SOURCES = tests/seeds/static.c
static_LDADD = libftrtools.a libftrcore.a
closed_SOURCES = tests/seeds/closed.c
closed_LDADD = libftrtools.a libftrcore.a
published_sftree_SOURCES = tests/seeds/published_sftree.c tests/lib/subtree.c tests/lib/subtree.h
published_sftree_CFLAGS = $(AM_CFLAGS) -I$(top_srcdir)/tests
published_sftree_LDADD = libftrtools.a libftrcore.a

# A plugin that writes the SLs of stock engines, see tests/seeds/stock.sh.
if HAVE_OPENSM
noinst_PROGRAMS += libibfvls.so
libibfvls_so_SOURCES = tests/seeds/vls.c
libibfvls_so_CPPFLAGS = $(AM_CPPFLAGS) $(OSM_CFLAGS)
libibfvls_so_CFLAGS = $(AM_CFLAGS) -fPIC
libibfvls_so_LINK = $(LINK_SHARED)
endif
