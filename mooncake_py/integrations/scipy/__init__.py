"""Rules for SciPy, a module for each of its parts; `optional` reads them when SciPy is there."""
