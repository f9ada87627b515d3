"""Solvers whose results are differentiated by the equation that they solve."""
