libftr_la_SOURCES += src/sim/sim.h src/sim/wheel.c src/sim/net.c \
	src/sim/run.c src/sim/source.c src/sim/change.c src/sim/stuck.c \
	src/sim/message.c \
	src/sim/result.c src/sim/function.c src/sim/conf.c \
	src/sim/tiers.h src/sim/tiers.c src/sim/rf_det.c src/sim/rf_adaptive.c \
	src/sim/immunet.h src/sim/rf_immunet.c
libftr_la_LIBADD += -lm
