"""Calls of functions on whole arrays within regions: ``lap = np.roll(u, 1) + np.roll(u, -1)``.

Any function with a rule of this package may be one operation of a region, if its result is an
array of floats or a number.  Such a call is a `Sliced` of its own, which binds a name:
`arguments` says how its operands stand in the call, `operations` what its rule does in both sweeps
and in a tangent, `reading` reads it, `forms` prints it, and `tangents` makes its tangent.
"""
