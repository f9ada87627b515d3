"""Everything for `scipy.integrate`."""

from mooncake_py.solvers.scipy import integrals as integrals
from mooncake_py.solvers.scipy import odes as odes
