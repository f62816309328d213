libftrcore_la_SOURCES += src/tables/tables.c src/tables/vl.c
