# The part of the fast path that does not depend on OpenSM; its tests run without OpenSM.
noinst_LIBRARIES += libreroute.a
libreroute_a_SOURCES = src/plugin/reroute/damp.c src/plugin/reroute/damp.h \
	src/plugin/reroute/ddlr.c src/plugin/reroute/dr.c src/plugin/reroute/dr.h \
	src/plugin/reroute/links.c src/plugin/reroute/links.h \
	src/plugin/reroute/planner.c src/plugin/reroute/planner.h src/plugin/reroute/post.c src/plugin/reroute/probe.c \
	src/plugin/reroute/reroute.c src/plugin/reroute/reroute.h src/plugin/reroute/returns.c \
	src/plugin/reroute/smp.h src/plugin/reroute/state.c src/plugin/reroute/state.h \
	src/plugin/reroute/probe_routes.c src/plugin/reroute/worker.c src/plugin/reroute/write.c
libreroute_a_CFLAGS = $(AM_CFLAGS) -fPIC -O2
