libftrcore_la_SOURCES += src/gen/grow.h src/gen/grow.c src/gen/pgft.c \
	src/gen/torus.c src/gen/damage.c
