"""From syntax trees of loops, and of the functions that they call, to the representation."""
