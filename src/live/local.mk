libftrcore_la_SOURCES += src/live/live.h src/live/live.c src/live/view.c \
	src/live/cost.c src/live/entry.c src/live/place.c src/live/extra.c src/live/stage.c
