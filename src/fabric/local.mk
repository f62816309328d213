libftrcore_la_SOURCES += src/fabric/builder.c src/fabric/copy.c src/fabric/fabric.c src/fabric/map.c src/fabric/fabric.h
