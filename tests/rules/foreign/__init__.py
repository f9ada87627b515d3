"""Calls of functions with rules, an argument of which is an object that is no array."""
