"""Forward mode: a context over another context, which computes a tangent beside each value.

Primals and tangents are values of the context below, the *base*: what the base does with them
(nothing, recording for a reverse pass, tangents of its own) is its affair.  So derivatives nest.
"""
