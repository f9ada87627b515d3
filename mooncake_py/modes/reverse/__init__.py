"""Reverse mode: the context, its tape, and the operations that are recorded."""
