"""Conveniences on top of the derivatives: gradients of tuples, hooks, constants, complex slopes.

What is about the derivative that is under way (hooks, stops, levels of nesting) is declared as
`contextual`: a plain function for plain calls, and a rule that runs in its place inside one.
"""
