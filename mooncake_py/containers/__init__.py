"""Lists, dicts, sets and other containers: their changes, and how these are undone."""
