"""Rules for `scipy.fft`, a module for each family of transforms."""

from mooncake_py.integrations.scipy.fft import cosines as cosines
from mooncake_py.integrations.scipy.fft import fourier as fourier
from mooncake_py.integrations.scipy.fft import hankel as hankel
