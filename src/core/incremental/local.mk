libftrcore_a_SOURCES += src/core/incremental/incremental.h src/core/incremental/apply.c src/core/incremental/view.c \
	src/core/incremental/cost_update.c src/core/incremental/entry_update.c src/core/incremental/placement_update.c src/core/incremental/turn_update.c src/core/incremental/spared.c src/core/incremental/write_steps.c
