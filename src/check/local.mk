libftrcore_la_SOURCES += src/check/check.h src/check/check_tables.c \
	src/check/updown.c src/check/walk.c src/check/cdg.c \
	src/check/claims.h src/check/claims.c src/check/cycle.c src/check/finding.c src/check/hops.c src/check/vl_cdg.c \
	src/check/delta.c src/check/link_load.h src/check/load_model.c \
	src/check/loadtree.c src/check/loadrun.c src/check/loadsum.c \
	src/check/dyn.h src/check/dyngraph.c src/check/dynchange.c \
	src/check/dynorder.c src/check/dynwalk.c src/check/dynall.c \
	src/check/job_load.c
