"""Rules for `scipy.optimize`: roots, minima and fits."""

from mooncake_py.solvers.scipy import fits as fits
from mooncake_py.solvers.scipy import minima as minima
from mooncake_py.solvers.scipy import roots as roots
