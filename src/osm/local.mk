# The plugin.  The files that do not depend on OpenSM form a library of their own, so that their
# unit tests run without OpenSM.
EXTRA_DIST += src/osm/ibfattree.conf
# Alert rules for Prometheus and a dashboard for Grafana.
monitoringdir = $(pkgdatadir)
dist_monitoring_DATA = src/osm/monitoring/ibfattree.rules.yml \
	src/osm/monitoring/ibfattree-dashboard.json
if HAVE_OPENSM
noinst_LTLIBRARIES += libibfcore.la
libibfcore_la_SOURCES = src/osm/hint.c src/osm/hint.h src/osm/metrics.c \
	src/osm/metrics.h src/osm/msg.c src/osm/msg.h src/osm/name.c \
	src/osm/name.h src/osm/options.c \
	src/osm/options.h src/osm/stree.c src/osm/stree.h

# The whole plugin, also for the tests that load it into a fake OpenSM (tests/fake).
noinst_LTLIBRARIES += libibfplugin.la
libibfplugin_la_SOURCES = src/osm/adopt.c src/osm/ca_order.c src/osm/clock.c src/osm/clock.h \
	src/osm/commit.c src/osm/ddlr_vls.c src/osm/event.c src/osm/fast.c src/osm/fast.h \
	src/osm/generation.c src/osm/guid_options.c src/osm/host.c src/osm/host.h \
	src/osm/host_engine.c src/osm/layout.c src/osm/log.c \
	src/osm/mcast.c src/osm/search.c src/osm/state_store.c \
	src/osm/osm.h \
	src/osm/patch.c src/osm/plugin.c src/osm/prefer.c src/osm/prepare.c \
	src/osm/transport.c src/osm/transport.h src/osm/snapshot.c \
	src/osm/status_file.c src/osm/takeover.c src/osm/trap.c src/osm/verify.c \
	src/osm/writer.c src/osm/writer.h
libibfplugin_la_CPPFLAGS = $(AM_CPPFLAGS) $(OSM_CFLAGS) \
	-DIBF_CONF_FILE='"$(opensmconfdir)/ibfattree.conf"' \
	-DIBF_SEARCH_PROGRAM='"$(libexecdir)/ibfattree-search"'
libibfplugin_la_CFLAGS = $(AM_CFLAGS) -O2
libibfplugin_la_LIBADD = libibfcore.la libreroute.la libftrcore.la

# The process that searches for better tables (search.c).
libexec_PROGRAMS = ibfattree-search
ibfattree_search_SOURCES = src/osm/search_child.c
ibfattree_search_LDADD = libftrcore.la

lib_LTLIBRARIES += libibfattree.la
libibfattree_la_SOURCES =
libibfattree_la_LIBADD = libibfplugin.la
libibfattree_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared \
	-export-symbols-regex '^osm_event_plugin$$'

# The sample is installed as the configuration file in use.  "make install" keeps an existing
# file, and "make uninstall" keeps a file that was edited.
opensmconfdir = $(sysconfdir)/opensm
IBF_CONF = $(DESTDIR)$(opensmconfdir)/ibfattree.conf

install-data-local:
	$(MKDIR_P) '$(DESTDIR)$(opensmconfdir)'
	test -e '$(IBF_CONF)' || \
		$(INSTALL_DATA) '$(srcdir)/src/osm/ibfattree.conf' '$(IBF_CONF)'
uninstall-local:
	! cmp -s '$(srcdir)/src/osm/ibfattree.conf' '$(IBF_CONF)' || \
		rm -f '$(IBF_CONF)'
endif
