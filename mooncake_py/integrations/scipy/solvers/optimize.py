"""Rules for `scipy.optimize`: roots, minima and fits."""

from mooncake_py.integrations.scipy.solvers import fits as fits
from mooncake_py.integrations.scipy.solvers import minima as minima
from mooncake_py.integrations.scipy.solvers import roots as roots
