"""Benchmarks: `python -m benchmarks` prints gradient / primal for in-place NumPy kernels.

Ratios between one-threaded Python code and many-threaded BLAS calls would depend on the machine, so
every numerical library is held to one thread. They read these variables when NumPy loads them,
hence the place: the package is imported before any of its modules imports NumPy.
"""

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"
