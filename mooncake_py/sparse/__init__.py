"""Sparse Jacobians and Hessians: a pattern, a colouring of its columns, a few products."""
