"""What the language means while a function is differentiated: objects, containers, protocols."""
