# The part of the fast path that does not depend on OpenSM; its tests run without OpenSM.
noinst_LTLIBRARIES += libreroute.la
libreroute_la_SOURCES = src/reroute/damp.c src/reroute/damp.h \
	src/reroute/ddlr.c src/reroute/dr.c src/reroute/dr.h \
	src/reroute/links.c src/reroute/links.h src/reroute/post.c src/reroute/probe.c \
	src/reroute/reroute.c src/reroute/reroute.h src/reroute/returns.c \
	src/reroute/smp.h src/reroute/state.c src/reroute/state.h \
	src/reroute/probe_routes.c src/reroute/worker.c src/reroute/write.c
libreroute_la_CFLAGS = $(AM_CFLAGS) -O2
