libftrcore_a_SOURCES += src/core/fabric/builder.c src/core/fabric/copy.c src/core/fabric/drain.c src/core/fabric/fabric.c src/core/fabric/hosts.c src/core/fabric/map.c src/core/fabric/fabric.h
