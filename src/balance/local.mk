libftrcore_la_SOURCES += src/balance/balance.h src/balance/balance_tables.c \
	src/balance/net.c src/balance/column.c src/balance/flows.c src/balance/shifts.c \
	src/balance/choose.c src/balance/sweep.c src/balance/displaced.h \
	src/balance/displaced.c src/balance/bound.c
