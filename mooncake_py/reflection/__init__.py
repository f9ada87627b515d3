"""Views of a function in the engine: its rewritten code, its rule, its tape and its cost."""
