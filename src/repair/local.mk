libftrcore_la_SOURCES += src/repair/repair.h src/repair/repair.c \
	src/repair/mend.c src/repair/search.c src/repair/planes.c \
	src/repair/column.c src/repair/handover.c
