# The fast path without OpenSM: its tests need no host.
noinst_LTLIBRARIES += libreroute.la
libreroute_la_SOURCES = src/reroute/damp.c src/reroute/damp.h \
	src/reroute/dr.c src/reroute/dr.h src/reroute/links.c \
	src/reroute/links.h src/reroute/state.c src/reroute/state.h
