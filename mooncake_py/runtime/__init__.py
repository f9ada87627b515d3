"""Objects of a running derivative: active numbers, memory, cotangents, undo entries."""
