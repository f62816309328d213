libftr_la_SOURCES += src/engine/engine.c src/engine/engine.h \
	src/engine/dmodc.c
