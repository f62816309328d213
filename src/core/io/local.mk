libftrcore_a_SOURCES += src/core/io/drain_file.c src/core/io/guid_file.c src/core/io/host_list.c \
	src/core/io/pathsl.h src/core/io/raw.h src/core/io/source_file.h src/core/io/text.h src/core/io/lfts.c src/core/io/netfile.c \
	src/core/io/netwrite.c src/core/io/container.c src/core/io/container.h src/core/io/order_file.c src/core/io/pathsl.c \
	src/core/io/raw.c src/core/io/sl2vl.c src/core/io/source_file.c src/core/io/state_file.c \
	src/core/io/text.c src/core/io/topology.c
