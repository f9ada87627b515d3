"""Rules for `scipy.integrate`: integrals and differential equations."""

from mooncake_py.integrations.scipy.solvers import integrals as integrals
from mooncake_py.integrations.scipy.solvers import odes as odes
