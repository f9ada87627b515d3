"""Code that runs for a region when the types of its inputs are known."""
