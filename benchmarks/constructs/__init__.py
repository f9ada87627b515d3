"""What each construct of the language, and each small call of NumPy, costs to differentiate.

The kernels of :mod:`benchmarks.kernels` spend their time in arrays.  Programs of classes, small
functions and containers spend it in what is measured here, a construct at a time.
"""
