"""Rules for `scipy.sparse.linalg`: the iterations, beside those of `rules/`."""

from mooncake_py.integrations.scipy import sparse_linalg as sparse_linalg
from mooncake_py.integrations.scipy.solvers import iterations as iterations
