libftrtools_a_SOURCES += src/command/picture/picture.h src/command/picture/coordinates.c \
	src/command/picture/missing.c
