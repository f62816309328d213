# sources of src/osm
