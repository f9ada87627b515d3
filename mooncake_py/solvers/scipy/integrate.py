"""Everything for `scipy.integrate`."""

from mooncake_py.solvers.scipy import integrals as integrals
