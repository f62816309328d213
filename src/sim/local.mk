libftrlab_la_SOURCES += src/sim/dataplane.h src/sim/heap.c src/sim/channels.c \
	src/sim/run.c src/sim/packet.c src/sim/traffic.c src/sim/change.c src/sim/stuck.c \
	src/sim/message.c \
	src/sim/result.c src/sim/function.c src/sim/conf.c
libftrlab_la_LIBADD += -lm
