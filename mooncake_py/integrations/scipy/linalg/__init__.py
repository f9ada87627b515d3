"""Rules for `scipy.linalg`, a module for each family of functions.

Options such as ``overwrite_a`` are taken as False.
"""

from mooncake_py.integrations.scipy.linalg import array_api as array_api
from mooncake_py.integrations.scipy.linalg import banded as banded
from mooncake_py.integrations.scipy.linalg import blas as blas
from mooncake_py.integrations.scipy.linalg import blas_matrices as blas_matrices
from mooncake_py.integrations.scipy.linalg import decompositions as decompositions
from mooncake_py.integrations.scipy.linalg import equations as equations
from mooncake_py.integrations.scipy.linalg import factors as factors
from mooncake_py.integrations.scipy.linalg import functions as functions
from mooncake_py.integrations.scipy.linalg import general as general
from mooncake_py.integrations.scipy.linalg import lapack as lapack
from mooncake_py.integrations.scipy.linalg import lapack_spectra as lapack_spectra
from mooncake_py.integrations.scipy.linalg import lapack_tridiagonal as lapack_tridiagonal
from mooncake_py.integrations.scipy.linalg import reductions as reductions
from mooncake_py.integrations.scipy.linalg import riccati as riccati
from mooncake_py.integrations.scipy.linalg import systems as systems
from mooncake_py.integrations.scipy.linalg import toeplitz as toeplitz
