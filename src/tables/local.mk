libftrcore_la_SOURCES += src/tables/tables.c src/tables/vl.c \
	src/tables/write_order.c src/tables/write_order.h
