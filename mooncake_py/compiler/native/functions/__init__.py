"""Functions of NumPy, and builtins, on numbers and arrays, as statements of a region."""
