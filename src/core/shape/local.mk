libftrcore_a_SOURCES += src/core/shape/shape.h src/core/shape/assemble.c src/core/shape/candidates.c \
	src/core/shape/rank.c src/core/shape/rank.h src/core/shape/choice.c \
	src/core/shape/congestion.c src/core/shape/congestion.h \
	src/core/shape/group.c src/core/shape/column_order.c src/core/shape/cost.c src/core/shape/cost.h src/core/shape/dest.c \
	src/core/shape/rails.c src/core/shape/reorder.c src/core/shape/slots.c src/core/shape/upward_paths.c \
	src/core/shape/cover.c src/core/shape/cover.h src/core/shape/nominal.c \
	src/core/shape/project.c src/core/shape/replace.c src/core/shape/unite.c \
	src/core/shape/unite.h
