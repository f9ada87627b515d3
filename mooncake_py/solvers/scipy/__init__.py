"""SciPy's solvers by the implicit function theorem; loaded with the parts of SciPy."""
