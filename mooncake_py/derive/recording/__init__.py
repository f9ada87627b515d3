"""Reverse mode: the tape, the memory it knows, and the operations that are recorded."""
