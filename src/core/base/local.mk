libftrcore_a_SOURCES += src/core/base/bytes.c src/core/base/bytes.h \
	src/core/base/clean.c src/core/base/base.h src/core/base/file.c src/core/base/file.h src/core/base/mem.c src/core/base/search.h \
	src/core/base/status.c \
	src/core/base/team.c src/core/base/util.c
