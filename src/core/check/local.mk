libftrcore_a_SOURCES += src/core/check/check.h src/core/check/check_tables.c \
	src/core/check/updown.c src/core/check/walk.c src/core/check/cdg.c \
	src/core/check/claims.h src/core/check/claims.c src/core/check/cycle.c src/core/check/finding.c src/core/check/hops.c src/core/check/vl_cdg.c \
	src/core/check/delta.c src/core/check/base.h src/core/check/base.c src/core/check/from_base.c src/core/check/mixture.c src/core/check/link_load.h \
	src/core/check/flow_count.h src/core/check/flow_count.c src/core/check/load_model.c \
	src/core/check/loadrun.c src/core/check/loadsum.c \
	src/core/check/dyn.h src/core/check/dyngraph.c src/core/check/dynchange.c \
	src/core/check/dynorder.c src/core/check/dynsteps.c src/core/check/dynwalk.c \
	src/core/check/job_load.c
