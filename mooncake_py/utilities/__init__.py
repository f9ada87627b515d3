"""Convenience functions: gradients of all arguments, hooks, constants, complex derivatives.

Functions about the running derivative (hooks, stops, levels of nesting) are declared as
`contextual`: a plain function for plain calls, and a rule that replaces it inside a derivative.
"""
