# End-to-end runs of stock opensm in ibsim: scripts/test runs tests/sim/run.
SIM_FILES = tests/sim/run tests/sim/lib.sh tests/sim/tree.sh \
	tests/sim/fault.sh tests/sim/hostile.sh tests/sim/manager.sh \
	tests/sim/refuse.sh tests/sim/fast.sh tests/sim/prefer.sh tests/sim/stable.sh \
	tests/sim/status.sh tests/sim/drain.sh \
	tests/sim/ddlr.sh tests/sim/names.sh tests/sim/cli.sh tests/sim/sftree.sh \
	tests/sim/doctor.sh tests/sim/dryrun.sh tests/sim/reach.awk \
	tests/sim/reach.sh tests/sim/order.sh tests/sim/asan.supp
EXTRA_DIST += $(SIM_FILES)

if HAVE_IBMAD
noinst_PROGRAMS += mcjoin
mcjoin_SOURCES = tests/sim/mcjoin.c
mcjoin_CFLAGS = $(AM_CFLAGS) $(IBMAD_CFLAGS)
mcjoin_LDADD = $(IBMAD_LIBS)

# The recorder of Sets, a library that is preloaded into opensm, and the
# program that replays its records.
noinst_PROGRAMS += librecord.so
librecord_so_SOURCES = tests/sim/record.c
librecord_so_CFLAGS = $(AM_CFLAGS) $(IBMAD_CFLAGS) -fPIC -fvisibility=default
librecord_so_LINK = $(LINK_SHARED)
noinst_PROGRAMS += replay
replay_SOURCES = tests/sim/replay.c tests/lib/follow.c tests/lib/follow.h
replay_CFLAGS = $(AM_CFLAGS) -I$(top_srcdir)/tests
replay_LDADD = libftrcore.a
endif
