"""Syntax trees of the user's functions: found, named and looked into, not changed."""
