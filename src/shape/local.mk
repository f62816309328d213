libftrcore_la_SOURCES += src/shape/shape.h src/shape/assemble.c src/shape/candidates.c \
	src/shape/rank.c src/shape/rank.h src/shape/choice.c \
	src/shape/congestion.c src/shape/congestion.h \
	src/shape/group.c src/shape/column_order.c src/shape/cost.c src/shape/cost.h src/shape/dest.c \
	src/shape/reorder.c src/shape/slots.c src/shape/upward_paths.c \
	src/shape/cover.c src/shape/cover.h src/shape/nominal.c \
	src/shape/project.c src/shape/replace.c src/shape/unite.c \
	src/shape/unite.h
