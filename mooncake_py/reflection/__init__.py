"""What the engine does with a function, shown: its rewritten code, its rule, its tape, its cost."""
