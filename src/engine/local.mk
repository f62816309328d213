libftrcore_la_SOURCES += src/engine/engine_list.c src/engine/keep.c src/engine/engine.h \
	src/engine/closed_form.c src/engine/dmodc.c src/engine/inverted_order.c src/engine/root.c src/engine/place.c \
	src/engine/place.h src/engine/sftree.c src/engine/ddlr_engine.c \
	src/engine/turns.c src/engine/turns.h src/engine/connect.c \
	src/engine/connect.h src/engine/extra.c \
	src/engine/need.c src/engine/across.c src/engine/next_hops.c src/engine/spread.c src/engine/plan.h
