"""Rules applied to values of any structure, in a mode."""
