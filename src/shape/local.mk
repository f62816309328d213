# sources of src/shape
