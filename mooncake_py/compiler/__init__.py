"""Regions of user code that run as one tape entry: an intermediate representation.

`native` reads loops and whole functions as `regions`, differentiates them by the declared partials
(`derivatives`), and has them run compiled or as text of NumPy.  `statements` does the same for
single statements on numbers and arrays (`printing`), and `sites` decides whether either is tried.
"""
