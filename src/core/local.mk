libftrcore_la_SOURCES += src/core/bytes.c src/core/bytes.h \
	src/core/clean.c src/core/core.h src/core/file.c src/core/file.h src/core/mem.c src/core/search.h \
	src/core/status.c \
	src/core/team.c src/core/util.c
