libftrtools_a_SOURCES += src/lab/gen/grow.h src/lab/gen/grow.c src/lab/gen/pgft.c \
	src/lab/gen/torus.c src/lab/gen/superpod.c src/lab/gen/damage.c
