"""Cases of `scipy.spatial`."""

import numpy as np
from scipy import spatial

from tests.packages.suite import Package

PACKAGE = Package("scipy.spatial")
works = PACKAGE.works

X = np.array([0.3, 1.1, 2.4, 0.7, 1.9])
INSIDE = np.array([0.2, 1.1, 2.7])
P = np.array([[0.1, 0.3], [1.2, -0.4], [0.5, 1.6], [2.0, 0.9]])
Q = P[:3, ::-1] + 0.3

works("distance.cdist", spatial.distance.cdist, P, Q)
works(
    "distance.cdist('sqeuclidean')", lambda p, q: spatial.distance.cdist(p, q, "sqeuclidean"), P, Q
)
works("distance.pdist", spatial.distance.pdist, P)
works("distance.pdist('cityblock')", lambda p: spatial.distance.pdist(p, "cityblock"), P)
works(
    "distance.squareform(pdist)",
    lambda p: spatial.distance.squareform(spatial.distance.pdist(p)),
    P,
)
works("distance.euclidean", spatial.distance.euclidean, P[0], P[1])
works("distance.cosine", spatial.distance.cosine, P[0], P[1])
works(
    "distance.mahalanobis", lambda p, q: spatial.distance.mahalanobis(p, q, np.eye(2)), P[0], P[1]
)
works("distance.minkowski", lambda p, q: spatial.distance.minkowski(p, q, 3), P[0], P[1])
works("distance_matrix", spatial.distance_matrix, P, Q)
works("procrustes", lambda p, q: spatial.procrustes(p, q)[2], P[:3], Q)
works(
    "Rotation.from_rotvec.apply",
    lambda r, v: spatial.transform.Rotation.from_rotvec(r).apply(v),
    X[:3],
    X[1:4],
)
works(
    "Rotation.from_euler.as_matrix",
    lambda a: spatial.transform.Rotation.from_euler("xyz", a).as_matrix(),
    X[:3],
)
works(
    "geometric_slerp",
    lambda t: spatial.geometric_slerp(np.array([1.0, 0.0]), np.array([0.0, 1.0]), t),
    INSIDE / 3,
)
works(
    "KDTree.query of constants",
    lambda q: np.sqrt(((q - P[spatial.KDTree(P).query(np.array(Q))[1]]) ** 2).sum(1)),
    Q,
)
