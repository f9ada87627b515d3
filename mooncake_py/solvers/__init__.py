"""Solvers whose results are differentiated by the implicit function theorem."""
