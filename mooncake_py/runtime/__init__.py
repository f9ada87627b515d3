"""Values while they are differentiated: active numbers, memory, cotangents, what is undone."""
