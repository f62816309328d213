libftrcore_la_SOURCES += src/io/dbcsv.c src/io/guid_file.c src/io/hosts.c \
	src/io/slurm_topology.c src/io/pathsl.h src/io/raw.h src/io/source_file.h src/io/text.h src/io/lfts.c src/io/netfile.c \
	src/io/netwrite.c src/io/container.c src/io/container.h src/io/order_file.c src/io/search_job.c src/io/search_job.h src/io/pathsl.c \
	src/io/portlist.c src/io/raw.c src/io/sl2vl.c src/io/source_file.c src/io/state_file.c \
	src/io/subnetlst.c src/io/text.c src/io/topology.c
