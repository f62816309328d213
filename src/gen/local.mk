# sources of src/gen
