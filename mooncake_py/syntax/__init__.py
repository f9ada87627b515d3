"""Syntax trees of the user's functions: finding and analysing them, without changes."""
