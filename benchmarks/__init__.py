"""Benchmarks: `python -m benchmarks` prints gradient / primal for in-place NumPy kernels.

Ratios between one-threaded Python code and many-threaded BLAS calls would depend on the machine, so
every numerical library is held to one thread. They read these variables when NumPy loads them,
hence the place: the package is imported before any of its modules imports NumPy.
JAX has threads of XLA's besides: one to compute, none for its products of matrices.
"""

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

os.environ["NPROC"] = "1"
_flags = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ.setdefault("XLA_FLAGS", _flags)
