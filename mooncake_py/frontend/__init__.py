"""Rewrite the source of a function to code whose operations are calls of a context."""
