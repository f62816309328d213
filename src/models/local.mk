libftrlab_la_SOURCES += src/models/models.h src/models/models.c \
	src/models/tiers.h src/models/tiers.c src/models/det.c \
	src/models/adaptive.c src/models/immunet.h src/models/immunet.c
