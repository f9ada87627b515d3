"""Forward mode: a context over another context, which computes a tangent with each value.

Primals and tangents are values of the context below, the *base*, which may run them natively,
record them for a reverse pass, or compute their tangents.  So derivatives nest.
"""
