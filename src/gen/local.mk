libftr_la_SOURCES += src/gen/pgft.c src/gen/damage.c
