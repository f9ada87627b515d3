"""Pieces of a program that are recorded as one entry: read, differentiated and printed as text."""
