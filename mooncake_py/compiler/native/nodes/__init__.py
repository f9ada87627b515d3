"""Call nodes: calls of functions of Python within regions, with numbers and arrays as operands."""
