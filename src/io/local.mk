libftr_la_SOURCES += src/io/guids.c src/io/io.h src/io/lfts.c \
	src/io/netfile.c src/io/netwrite.c src/io/order.c src/io/portlist.c src/io/raw.c \
	src/io/subnetlst.c src/io/text.c src/io/topology.c
