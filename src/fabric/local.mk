libftr_la_SOURCES += src/fabric/builder.c src/fabric/fabric.c src/fabric/fabric.h
