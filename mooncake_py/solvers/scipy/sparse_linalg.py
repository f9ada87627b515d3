"""Rules for `scipy.sparse.linalg`: the iterations, beside those of `rules/`."""

from mooncake_py.rules.scipy import sparse_linalg as sparse_linalg
from mooncake_py.solvers.scipy import iterations as iterations
