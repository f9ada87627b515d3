"""Rules for `scipy.ndimage`, a module for each family of filters.

What SciPy writes in Python is derived; most of these are the compiled functions that it calls,
which write what they compute into an array.
"""

from mooncake_py.integrations.scipy.ndimage import correlations as correlations
from mooncake_py.integrations.scipy.ndimage import fourier as fourier
from mooncake_py.integrations.scipy.ndimage import interpolation as interpolation
from mooncake_py.integrations.scipy.ndimage import ranks as ranks
