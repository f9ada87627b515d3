"""Cases of `scipy.ndimage`."""

import numpy as np
from scipy import ndimage

from tests.packages.suite import Package

PACKAGE = Package("scipy.ndimage")
works = PACKAGE.works

IMAGE = np.cos(np.arange(30.0).reshape(5, 6) ** 1.2)
P = np.array([[0.1, 0.3], [1.2, -0.4], [0.5, 1.6], [2.0, 0.9]])

works("gaussian_filter", lambda x: ndimage.gaussian_filter(x, 1.2), IMAGE)
works("uniform_filter", lambda x: ndimage.uniform_filter(x, 3), IMAGE)
works("convolve", ndimage.convolve, IMAGE, IMAGE[:3, :3])
works("correlate", ndimage.correlate, IMAGE, IMAGE[:3, :3])
works("sobel", ndimage.sobel, IMAGE)
works("prewitt", ndimage.prewitt, IMAGE)
works("laplace", ndimage.laplace, IMAGE)
works("gaussian_laplace", lambda x: ndimage.gaussian_laplace(x, 1.0), IMAGE)
works("gaussian_gradient_magnitude", lambda x: ndimage.gaussian_gradient_magnitude(x, 1.0), IMAGE)
works("maximum_filter", lambda x: ndimage.maximum_filter(x, 3), IMAGE)
works("median_filter", lambda x: ndimage.median_filter(x, 3), IMAGE)
works("generic_filter", lambda x: ndimage.generic_filter(x, np.mean, 3), IMAGE)
works(
    "map_coordinates(order=1)",
    lambda x, c: ndimage.map_coordinates(x, c, order=1),
    IMAGE,
    P.T + 0.55,
)
works("shift", lambda x, s: ndimage.shift(x, s, order=1), IMAGE, 0.4)
works("zoom", lambda x: ndimage.zoom(x, 1.5), IMAGE)
works("rotate", lambda x: ndimage.rotate(x, 30.0), IMAGE)
works(
    "affine_transform",
    lambda x: ndimage.affine_transform(x, np.array([[0.9, 0.1], [-0.1, 1.1]])),
    IMAGE,
)
works("spline_filter", ndimage.spline_filter, IMAGE)
works("center_of_mass", lambda x: ndimage.center_of_mass(x + 2), IMAGE)
works("sum_labels", lambda x: ndimage.sum_labels(x, (IMAGE > 0).astype(int), [0, 1]), IMAGE)
works("fourier_gaussian", lambda x: ndimage.fourier_gaussian(np.fft.fft2(x), 1.0), IMAGE)
