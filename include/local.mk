# libftr: the library that is installed.  It exports exactly the functions and
# constants that the public headers declare.  The command, the plugin and the tests
# contain its modules (libftrcore.a, and for the simulator libftrtools.a) and do not need it.
#
# LIBFTR_VERSION is the number in the soname.  A release that changes any public struct or function
# increments it.
LIBFTR_VERSION = 0
ftrincludedir = $(includedir)/ftr
ftrinclude_HEADERS = include/ftr/balance.h include/ftr/cdg.h \
	include/ftr/check.h include/ftr/drain.h include/ftr/engine.h include/ftr/fabric.h \
	include/ftr/ftr.h include/ftr/gen.h include/ftr/hosts.h include/ftr/io.h \
	include/ftr/jobs.h include/ftr/incremental.h \
	include/ftr/load.h include/ftr/nominal.h \
	include/ftr/ddlr.h include/ftr/shape.h \
	include/ftr/sim.h include/ftr/state.h include/ftr/status.h \
	include/ftr/tables.h include/ftr/team.h include/ftr/text.h \
	include/ftr/transition.h include/ftr/types.h include/ftr/vl.h

execlib_PROGRAMS += libftr.so.0
libftr_so_0_SOURCES =
libftr_so_0_LINK = $(LINK_SHARED) -Wl,-soname,libftr.so.$(LIBFTR_VERSION) \
	-Wl,--version-script=libftr.map \
	-Wl,--whole-archive libftrtools.a libftrcore.a -Wl,--no-whole-archive
libftr_so_0_LDADD =
EXTRA_libftr_so_0_DEPENDENCIES = libftr.map libftrtools.a libftrcore.a
CLEANFILES += libftr.map libftr.map.tmp libftr.so
# The list may also contain names of inline functions and names from comments; this does no
# harm, because no object defines them.
libftr.map: $(ftrinclude_HEADERS) $(srcdir)/include/local.mk
	$(AM_V_GEN)(echo '{ global:' && (cd $(srcdir) && cat $(ftrinclude_HEADERS)) | \
		$(SED) -n -e '/^extern const /s/.*\<\(ftr_[a-z0-9_]*\);.*/\1/p' \
		-e 's/[^a-z0-9_]\(ftr_[a-z0-9_]*\)(/\n\1\n/gp' | \
		grep '^ftr_[a-z0-9_]*$$' | LC_ALL=C sort -u | $(SED) 's/$$/;/' && \
		echo 'local: *; };') >$@.tmp && mv $@.tmp $@

install-exec-hook:
	cd '$(DESTDIR)$(libdir)' && $(LN_S) -f libftr.so.$(LIBFTR_VERSION) libftr.so
uninstall-hook:
	rm -f '$(DESTDIR)$(libdir)/libftr.so'

pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = libftr.pc

EXTRA_DIST += examples
