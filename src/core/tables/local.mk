libftrcore_a_SOURCES += src/core/tables/tables.c src/core/tables/transition.c \
	src/core/tables/vl.c \
	src/core/tables/write_order.c src/core/tables/write_order.h
