"""Regions of user code that run as one tape entry: a typed intermediate representation.

`read` makes a region of a loop (`reading`, `regions`), `derivatives` has its tangent and both of
its sweeps, `forms` infers types and has sweeps printed (`printing`), and `sites` runs them.
Statements on arrays (`statements`), loops of such (`slices`) and compiled functions (`native`) add
to these.
"""
