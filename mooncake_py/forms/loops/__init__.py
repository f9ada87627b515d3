"""Loops over numbers and elements of arrays that are recorded as one entry."""
