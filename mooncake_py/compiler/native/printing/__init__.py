"""From sweeps to text, and from text to compiled functions."""
