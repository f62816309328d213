# The package ibfattree-simgrid: a platform of SimGrid, and the program that starts SMPI with it.
EXTRA_DIST += simgrid/ibfattree-smpi.in simgrid/platform.cc man/ibfattree-smpi.1
if WITH_SIMGRID
execlib_PROGRAMS += ibfattree-simgrid.so
ibfattree_simgrid_so_SOURCES = simgrid/platform.cc src/command/cli/unpack.c
ibfattree_simgrid_so_CXXFLAGS = $(FTR_SIMGRID_CXXFLAGS) $(AM_CXXFLAGS)
ibfattree_simgrid_so_CFLAGS = $(libcli_a_CFLAGS) -fPIC
ibfattree_simgrid_so_LINK = $(CXX) -shared $(FTR_SAN_CFLAGS) $(CXXFLAGS) $(AM_LDFLAGS) $(LDFLAGS) \
	-Wl,--exclude-libs,ALL -o $@
ibfattree_simgrid_so_LDADD = libftrtools.a libftrcore.a $(SIMGRID_LIBS) $(UNPACK_LIBS) -lm

bin_SCRIPTS = ibfattree-smpi
CLEANFILES += ibfattree-smpi
ibfattree-smpi: simgrid/ibfattree-smpi.in Makefile
	$(AM_V_GEN)$(SED) 's|@libdir[@]|$(libdir)|' $(srcdir)/simgrid/ibfattree-smpi.in >$@.tmp && \
	chmod 755 $@.tmp && mv $@.tmp $@
man_MANS = man/ibfattree-smpi.1
endif
