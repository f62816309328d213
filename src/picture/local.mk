libftrcore_la_SOURCES += src/picture/picture.h src/picture/coordinates.c \
	src/picture/odd.c src/picture/missing.c src/picture/least.c
