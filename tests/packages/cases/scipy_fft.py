"""Cases of `scipy.fft`."""

import numpy as np
from scipy import fft

from tests.packages.suite import Package

PACKAGE = Package("scipy.fft")
works = PACKAGE.works

X = np.array([0.3, 1.1, 2.4, 0.7, 1.9])
IMAGE = np.cos(np.arange(30.0).reshape(5, 6) ** 1.2)

for _name in (
    "fft",
    "ifft",
    "rfft",
    "irfft",
    "hfft",
    "dct",
    "idct",
    "dst",
    "idst",
    "fft2",
    "dctn",
    "fftn",
):
    works(_name, getattr(fft, _name), IMAGE)
works("fftshift", fft.fftshift, IMAGE)
works("fht", lambda x: fft.fht(x, 0.1, 0.5), X)
