"""Sweeps of regions as Python text, with operations of NumPy on whole arrays."""
