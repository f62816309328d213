libftr_la_SOURCES += src/core/bytes.c src/core/bytes.h \
	src/core/clean.c src/core/core.h src/core/file.c src/core/file.h src/core/mem.c src/core/status.c \
	src/core/team.c src/core/util.c \
	include/ftr/balance.h include/ftr/stored.h include/ftr/check.h include/ftr/engine.h include/ftr/fabric.h \
	include/ftr/ftr.h include/ftr/gen.h include/ftr/io.h include/ftr/live.h \
	include/ftr/load.h include/ftr/nominal.h include/ftr/shape.h \
	include/ftr/status.h include/ftr/tables.h include/ftr/text.h include/ftr/cdg.h \
	include/ftr/repair.h include/ftr/sim.h \
	include/ftr/team.h include/ftr/types.h include/ftr/vl.h \
	include/ftr/linkload.h include/ftr/hosts.h include/ftr/jobs.h include/ftr/picture.h
