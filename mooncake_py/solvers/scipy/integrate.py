"""Rules for `scipy.integrate`: integrals and differential equations."""

from mooncake_py.solvers.scipy import integrals as integrals
from mooncake_py.solvers.scipy import odes as odes
