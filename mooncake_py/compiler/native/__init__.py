"""Whole functions as regions, compiled by Numba."""
