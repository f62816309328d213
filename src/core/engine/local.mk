libftrcore_a_SOURCES += src/core/engine/engine_list.c src/core/engine/keep.c src/core/engine/base.c src/core/engine/scratch.c src/core/engine/engine.h \
	src/core/engine/closed_form.c src/core/engine/dmodc.c src/core/engine/inverted_order.c src/core/engine/root.c src/core/engine/place.c \
	src/core/engine/place.h src/core/engine/sftree.c src/core/engine/ddlr_engine.c src/core/engine/vl_pairs.c \
	src/core/engine/turns.c src/core/engine/turns.h src/core/engine/connect.c \
	src/core/engine/connect.h src/core/engine/extra.c \
	src/core/engine/need.c src/core/engine/across.c src/core/engine/next_hops.c src/core/engine/spread.c src/core/engine/plan.h
