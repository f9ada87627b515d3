"""Rules for `scipy.sparse.linalg`: iterative solvers; `sparse_linalg/` has the others."""

from mooncake_py.integrations.scipy import sparse_linalg as sparse_linalg
from mooncake_py.integrations.scipy.solvers import iterations as iterations
