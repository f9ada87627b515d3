"""Lists, dicts, sets and the like: what changes them, and how that is undone."""
