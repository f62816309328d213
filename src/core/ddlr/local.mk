libftrcore_a_SOURCES += src/core/ddlr/planner.h src/core/ddlr/events.c src/core/ddlr/plan.c \
	src/core/ddlr/broken.c src/core/ddlr/detour.c src/core/ddlr/planes.c \
	src/core/ddlr/lid_transition.c src/core/ddlr/table_transition.c src/core/ddlr/inverted.c
