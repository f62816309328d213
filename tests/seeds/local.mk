# Routing functions of the literature, for the programs below and for tests.
noinst_LIBRARIES += libmodels.a
libmodels_a_SOURCES = tests/seeds/models/models.h tests/seeds/models/models.c \
	tests/seeds/models/tiers.h tests/seeds/models/tiers.c tests/seeds/models/det.c \
	tests/seeds/models/adaptive.c tests/seeds/models/immunet.h tests/seeds/models/immunet.c \
	tests/seeds/models/extra.h tests/seeds/models/extra.c
libmodels_a_CFLAGS = $(MODELS_CFLAGS)
MODELS_CFLAGS = $(AM_CFLAGS) -I$(top_srcdir)/tests/seeds
MODELS_LDADD = libmodels.a libftrtools.a libftrcore.a

# Programs of tests/seeds/run.  They are built at the top of the build directory, because
# the directory tests/seeds goes into releases as it is.
noinst_PROGRAMS += rerouting immunet outputs sssp static closed published_sftree sim-models
rerouting_SOURCES = tests/seeds/rerouting.c tests/ddlr/fault_state.c \
	tests/ddlr/fault_state.h
rerouting_CFLAGS = $(MODELS_CFLAGS) -I$(top_srcdir)/tests
rerouting_LDADD = $(MODELS_LDADD)
immunet_SOURCES = tests/seeds/immunet_runs.c
immunet_CFLAGS = $(MODELS_CFLAGS)
immunet_LDADD = $(MODELS_LDADD)
outputs_SOURCES = tests/seeds/outputs.c
outputs_CFLAGS = $(MODELS_CFLAGS)
outputs_LDADD = $(MODELS_LDADD)
sssp_SOURCES = tests/seeds/sssp.c
sssp_LDADD = libftrtools.a libftrcore.a
static_SOURCES = tests/seeds/static.c
static_CFLAGS = $(MODELS_CFLAGS)
static_LDADD = $(MODELS_LDADD)
sim_models_SOURCES = tests/seeds/models/sim_models.c
sim_models_CFLAGS = $(MODELS_CFLAGS)
sim_models_LDADD = libsim.a libcli.a $(MODELS_LDADD) $(JSONC_LIBS) $(UNPACK_LIBS) -lm
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
