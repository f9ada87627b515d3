"""Everything for `scipy.optimize`."""

from mooncake_py.solvers.scipy import roots as roots
