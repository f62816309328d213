libftrcore_la_SOURCES += src/incremental/incremental.h src/incremental/apply.c src/incremental/view.c \
	src/incremental/cost_update.c src/incremental/entry_update.c src/incremental/placement_update.c src/incremental/turn_update.c src/incremental/write_steps.c
