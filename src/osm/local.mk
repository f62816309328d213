# The plugin.  What knows nothing of OpenSM is a library of its own, so that
# unit tests need no host.
EXTRA_DIST += src/osm/ibfattree.conf
if HAVE_OPENSM
noinst_LTLIBRARIES += libibfcore.la
libibfcore_la_SOURCES = src/osm/msg.c src/osm/msg.h src/osm/options.c \
	src/osm/options.h src/osm/stree.c src/osm/stree.h

lib_LTLIBRARIES += libibfattree.la
libibfattree_la_SOURCES = src/osm/ca_order.c src/osm/commit.c \
	src/osm/engine.c src/osm/log.c src/osm/mcast.c src/osm/osm.h \
	src/osm/plugin.c src/osm/snapshot.c src/osm/verify.c
libibfattree_la_CPPFLAGS = $(AM_CPPFLAGS) $(OSM_CFLAGS) \
	-DIBF_CONF_FILE='"$(opensmconfdir)/ibfattree.conf"'
libibfattree_la_CFLAGS = $(AM_CFLAGS) -O2
libibfattree_la_LIBADD = libibfcore.la libftr.la
libibfattree_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared \
	-export-symbols-regex '^osm_event_plugin$$'

# The sample is live where it is installed, so a changed one is kept.
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
