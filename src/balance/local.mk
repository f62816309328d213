libftrcore_la_SOURCES += src/balance/balance.h src/balance/balance_tables.c \
	src/balance/flow_net.c src/balance/count.c src/balance/count_alike.c \
	src/balance/load_sweep.h src/balance/load_sweep.c src/balance/load_dest.c \
	src/balance/local_search.c src/balance/move.c \
	src/balance/worst.c src/balance/displaced.h \
	src/balance/placing.h src/balance/displaced.c \
	src/balance/displaced_all.c src/balance/bound.c
