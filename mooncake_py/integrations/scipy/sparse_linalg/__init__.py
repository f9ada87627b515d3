"""Rules for `scipy.sparse.linalg`: systems with a sparse matrix whose elements may be active.

With A x = b the adjoint solves A^H db = dx, and dA = -db x^H on the elements that A has.
"""

from mooncake_py.integrations.scipy.sparse_linalg import exponentials as exponentials
from mooncake_py.integrations.scipy.sparse_linalg import factors as factors
from mooncake_py.integrations.scipy.sparse_linalg import triangular as triangular
