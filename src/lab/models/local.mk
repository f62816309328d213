libftrtools_a_SOURCES += src/lab/models/models.h src/lab/models/models.c \
	src/lab/models/tiers.h src/lab/models/tiers.c src/lab/models/det.c \
	src/lab/models/adaptive.c src/lab/models/immunet.h src/lab/models/immunet.c
