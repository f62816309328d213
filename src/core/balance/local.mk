libftrcore_a_SOURCES += src/core/balance/balance.h src/core/balance/balance_tables.c \
	src/core/balance/net.c src/core/balance/column.c src/core/balance/flows.c src/core/balance/shifts.c \
	src/core/balance/choose.c src/core/balance/sweep.c src/core/balance/displaced.h \
	src/core/balance/displaced.c src/core/balance/bound.c src/core/balance/base.c
