libftrcore_la_SOURCES += src/ddlr/planner.h src/ddlr/events.c src/ddlr/plan.c \
	src/ddlr/broken.c src/ddlr/detour.c src/ddlr/planes.c \
	src/ddlr/lid_transition.c src/ddlr/table_transition.c
