# libftr: the library that is installed.  It exports exactly the functions and
# constants that the public headers declare.  The command, the plugin and the tests
# contain its modules (libftrcore.la, and for the simulator libftrtools.la) and do not need it.
#
# LIBFTR_VERSION is libtool's current:revision:age.  Before a release: a change
# of any public struct or function makes it (current + 1):0:0.
LIBFTR_VERSION = 0:0:0
ftrincludedir = $(includedir)/ftr
ftrinclude_HEADERS = include/ftr/balance.h include/ftr/cdg.h \
	include/ftr/check.h include/ftr/drain.h include/ftr/engine.h include/ftr/fabric.h \
	include/ftr/ftr.h include/ftr/gen.h include/ftr/hosts.h include/ftr/io.h \
	include/ftr/jobs.h include/ftr/incremental.h \
	include/ftr/load.h include/ftr/models.h include/ftr/nominal.h \
	include/ftr/picture.h include/ftr/ddlr.h include/ftr/shape.h \
	include/ftr/sim.h include/ftr/state.h include/ftr/status.h \
	include/ftr/tables.h include/ftr/team.h include/ftr/text.h \
	include/ftr/transition.h include/ftr/types.h include/ftr/vl.h

lib_LTLIBRARIES += libftr.la
libftr_la_SOURCES =
libftr_la_LIBADD = libftrtools.la libftrcore.la
libftr_la_LDFLAGS = $(AM_LDFLAGS) -no-undefined -version-info $(LIBFTR_VERSION) \
	-export-symbols libftr.sym
EXTRA_libftr_la_DEPENDENCIES = libftr.sym
CLEANFILES += libftr.sym libftr.sym.tmp
# The list may also contain names of inline functions and names from comments; this does no
# harm, because no object defines them.
libftr.sym: $(ftrinclude_HEADERS) $(srcdir)/include/local.mk
	$(AM_V_GEN)(cd $(srcdir) && cat $(ftrinclude_HEADERS)) | \
		$(SED) -n -e '/^extern const /s/.*\<\(ftr_[a-z0-9_]*\);.*/\1/p' \
		-e 's/[^a-z0-9_]\(ftr_[a-z0-9_]*\)(/\n\1\n/gp' | \
		grep '^ftr_' | LC_ALL=C sort -u >$@.tmp && mv $@.tmp $@

pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = libftr.pc

EXTRA_DIST += examples
