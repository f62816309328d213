libftrcore_la_SOURCES += src/picture/picture.h src/picture/coordinates.c \
	src/picture/missing.c
