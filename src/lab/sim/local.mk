libftrtools_a_SOURCES += src/lab/sim/dataplane.h src/lab/sim/heap.c src/lab/sim/channels.c \
	src/lab/sim/run.c src/lab/sim/packet.c src/lab/sim/traffic.c src/lab/sim/change.c src/lab/sim/stuck.c \
	src/lab/sim/steps.c src/lab/sim/result.c src/lab/sim/function.c src/lab/sim/conf.c
