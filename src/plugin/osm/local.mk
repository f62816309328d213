# The plugin.  The files that do not depend on OpenSM form a library of their own, so that their
# unit tests run without OpenSM.
EXTRA_DIST += src/plugin/osm/ibfattree.conf
# Alert rules for Prometheus and a dashboard for Grafana.
monitoringdir = $(pkgdatadir)
dist_monitoring_DATA = src/plugin/osm/monitoring/ibfattree.rules.yml \
	src/plugin/osm/monitoring/ibfattree-dashboard.json
if HAVE_OPENSM
noinst_LIBRARIES += libibfcore.a
libibfcore_a_CFLAGS = $(AM_CFLAGS) -fPIC
libibfcore_a_SOURCES = src/plugin/osm/hint.c src/plugin/osm/hint.h src/plugin/osm/metrics.c \
	src/plugin/osm/metrics.h src/plugin/osm/msg.c src/plugin/osm/msg.h src/plugin/osm/name.c \
	src/plugin/osm/name.h src/plugin/osm/options.c \
	src/plugin/osm/options.h src/plugin/osm/stree.c src/plugin/osm/stree.h

# The whole plugin, also for the tests that load it into a fake OpenSM (tests/fake).
noinst_LIBRARIES += libibfplugin.a
libibfplugin_a_SOURCES = src/plugin/osm/adopt.c src/plugin/osm/blocks.c src/plugin/osm/blocks.h src/plugin/osm/ca_order.c \
	src/plugin/osm/clock.c src/plugin/osm/clock.h \
	src/plugin/osm/commit.c src/plugin/osm/ddlr_vls.c src/plugin/osm/drain.c src/plugin/osm/drain.h src/plugin/osm/event.c src/plugin/osm/fast.c src/plugin/osm/fast.h \
	src/plugin/osm/generation.c src/plugin/osm/guid_options.c src/plugin/osm/host.c src/plugin/osm/host.h \
	src/plugin/osm/host_engine.c src/plugin/osm/layout.c src/plugin/osm/log.c \
	src/plugin/osm/mcast.c src/plugin/osm/search.c src/plugin/osm/state_store.c \
	src/plugin/osm/osm.h \
	src/plugin/osm/patch.c src/plugin/osm/plugin.c src/plugin/osm/prefer.c src/plugin/osm/prepare.c \
	src/plugin/osm/transport.c src/plugin/osm/transport.h src/plugin/osm/snapshot.c \
	src/plugin/osm/status_file.c src/plugin/osm/transition.c src/plugin/osm/trap.c src/plugin/osm/verify.c \
	src/plugin/osm/without_loop.c src/plugin/osm/writer.c src/plugin/osm/writer.h
libibfplugin_a_CPPFLAGS = $(AM_CPPFLAGS) $(OSM_CFLAGS) \
	-DIBF_CONF_FILE='"$(opensmconfdir)/ibfattree.conf"'
libibfplugin_a_CFLAGS = $(AM_CFLAGS) -fPIC -O2
PLUGIN_LIBS = libibfplugin.a libibfcore.a libreroute.a libhelper.a libftrcore.a

execlib_PROGRAMS += libibfattree.so
libibfattree_so_SOURCES =
libibfattree_so_LINK = $(LINK_SHARED) -Wl,-soname,libibfattree.so -Wl,-u,osm_event_plugin \
	-Wl,--version-script=$(srcdir)/src/plugin/osm/exported
libibfattree_so_LDADD = $(PLUGIN_LIBS)
EXTRA_libibfattree_so_DEPENDENCIES = src/plugin/osm/exported
EXTRA_DIST += src/plugin/osm/exported

# The sample is installed as the configuration file in use.  "make install" keeps an existing
# file, and "make uninstall" keeps a file that was edited.
opensmconfdir = $(sysconfdir)/opensm
IBF_CONF = $(DESTDIR)$(opensmconfdir)/ibfattree.conf

install-data-local:
	$(MKDIR_P) '$(DESTDIR)$(opensmconfdir)'
	test -e '$(IBF_CONF)' || \
		$(INSTALL_DATA) '$(srcdir)/src/plugin/osm/ibfattree.conf' '$(IBF_CONF)'
uninstall-local:
	! cmp -s '$(srcdir)/src/plugin/osm/ibfattree.conf' '$(IBF_CONF)' || \
		rm -f '$(IBF_CONF)'
endif
