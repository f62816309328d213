# sources of src/check
