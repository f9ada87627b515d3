"""SciPy's solvers in terms of the implicit function theorem; read once SciPy's part is there."""
