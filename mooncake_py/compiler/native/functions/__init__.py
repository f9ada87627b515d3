"""What functions of NumPy, and builtins, do to numbers and arrays, as statements of a region."""
