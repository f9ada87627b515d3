"""Cases of `scikit-learn`."""

from functools import partial

import numpy as np
from sklearn import (
    covariance,
    decomposition,
    discriminant_analysis,
    gaussian_process,
    kernel_ridge,
    linear_model,
    metrics,
    mixture,
    naive_bayes,
    neural_network,
    preprocessing,
)
from sklearn.gaussian_process import kernels
from sklearn.metrics import pairwise

from tests.packages.suite import Package

PACKAGE = Package("scikit-learn")
works = PACKAGE.works

DRAW = np.random.default_rng(6)
X = DRAW.normal(size=(12, 3))
Y = X @ np.array([0.4, 1.0, -0.7]) + 0.3 * DRAW.normal(size=12)
NEW = DRAW.normal(size=(4, 3))
CLASSES = (Y > 0).astype(int)
POSITIVE = np.exp(Y)
PROBABILITIES = 1 / (1 + np.exp(-X[:, 0]))

linear = linear_model.LinearRegression().fit(X, Y)
ridge = linear_model.Ridge().fit(X, Y)
logistic = linear_model.LogisticRegression().fit(X, CLASSES)
network = neural_network.MLPRegressor(
    hidden_layer_sizes=(5,), activation="tanh", random_state=0, max_iter=20
).fit(X, Y)
process = gaussian_process.GaussianProcessRegressor(kernels.RBF(), alpha=0.1, optimizer=None).fit(
    X, Y
)
components = decomposition.PCA(2).fit(X)
mixed = mixture.GaussianMixture(2, random_state=0).fit(X)

works("LinearRegression.predict", linear.predict, NEW)
works("Ridge.predict", ridge.predict, NEW)
works("LogisticRegression.decision_function", logistic.decision_function, NEW)
works("LogisticRegression.predict_proba", logistic.predict_proba, NEW)
works("LogisticRegression.predict_log_proba", logistic.predict_log_proba, NEW)
works("MLPRegressor.predict", network.predict, NEW)
works("GaussianProcessRegressor.predict", process.predict, NEW)
works(
    "GaussianProcessRegressor.log_marginal_likelihood",
    lambda t: process.log_marginal_likelihood(np.reshape(t, 1), clone_kernel=False),
    0.2,
)
works("PCA.transform", components.transform, NEW)
works("PCA.inverse_transform", components.inverse_transform, NEW[:, :2].copy())
works("GaussianMixture.score_samples", mixed.score_samples, NEW)
works("GaussianMixture.predict_proba", mixed.predict_proba, NEW)
works(
    "LinearDiscriminantAnalysis.decision_function",
    discriminant_analysis.LinearDiscriminantAnalysis().fit(X, CLASSES).decision_function,
    NEW,
)
works(
    "QuadraticDiscriminantAnalysis.decision_function",
    discriminant_analysis.QuadraticDiscriminantAnalysis().fit(X, CLASSES).decision_function,
    NEW,
)
works(
    "GaussianNB.predict_log_proba", naive_bayes.GaussianNB().fit(X, CLASSES).predict_log_proba, NEW
)
works("KernelRidge.predict", kernel_ridge.KernelRidge(kernel="rbf").fit(X, Y).predict, NEW)
works("StandardScaler.transform", preprocessing.StandardScaler().fit(X).transform, NEW)
works(
    "StandardScaler.inverse_transform", preprocessing.StandardScaler().fit(X).inverse_transform, NEW
)
works("MinMaxScaler.transform", preprocessing.MinMaxScaler().fit(X).transform, NEW)
works("RobustScaler.transform", preprocessing.RobustScaler().fit(X).transform, NEW)
works("PowerTransformer.transform", preprocessing.PowerTransformer().fit(X).transform, NEW)
works("PolynomialFeatures.transform", preprocessing.PolynomialFeatures(2).fit(X).transform, NEW)
works("SplineTransformer.transform", preprocessing.SplineTransformer(4).fit(X).transform, NEW / 4)
works("Normalizer.transform", preprocessing.Normalizer().fit(X).transform, NEW)
works("normalize", preprocessing.normalize, NEW)
works("scale", preprocessing.scale, X)
works("minmax_scale", preprocessing.minmax_scale, X)
works("StandardScaler.fit_transform", lambda x: preprocessing.StandardScaler().fit_transform(x), X)
works("LinearRegression.fit coef_", lambda y: linear_model.LinearRegression().fit(X, y).coef_, Y)
works("Ridge.fit coef_", lambda y: linear_model.Ridge(solver="cholesky").fit(X, y).coef_, Y)
works(
    "KernelRidge.fit, predict",
    lambda y: kernel_ridge.KernelRidge(kernel="rbf").fit(X, y).predict(NEW),
    Y,
)
works(
    "PCA.fit explained_variance_",
    lambda x: decomposition.PCA(2, svd_solver="full").fit(x).explained_variance_,
    X,
)
works("EmpiricalCovariance.fit", lambda x: covariance.EmpiricalCovariance().fit(x).covariance_, X)
works("LedoitWolf.fit", lambda x: covariance.LedoitWolf().fit(x).covariance_, X, forward=False)
works(
    "log_likelihood",
    lambda c: covariance.log_likelihood(c, np.linalg.inv(c + np.eye(3))),
    X[:3] @ X[:3].T,
)
for _name in (
    "mean_squared_error",
    "mean_absolute_error",
    "r2_score",
    "explained_variance_score",
    "median_absolute_error",
    "root_mean_squared_error",
    "max_error",
    "d2_absolute_error_score",
):
    works(_name, partial(getattr(metrics, _name), Y), X[:, 0] * 0.9)
works(
    "mean_squared_log_error", lambda p: metrics.mean_squared_log_error(POSITIVE, p), POSITIVE * 1.1
)
works("mean_pinball_loss", lambda p: metrics.mean_pinball_loss(Y, p, alpha=0.3), X[:, 0])
works("mean_gamma_deviance", lambda p: metrics.mean_gamma_deviance(POSITIVE, p), POSITIVE * 1.1)
works("mean_poisson_deviance", lambda p: metrics.mean_poisson_deviance(POSITIVE, p), POSITIVE * 1.1)
works("log_loss", lambda p: metrics.log_loss(CLASSES, p), PROBABILITIES)
works("brier_score_loss", lambda p: metrics.brier_score_loss(CLASSES, p), PROBABILITIES)
works("hinge_loss", lambda p: metrics.hinge_loss(CLASSES, p), X[:, 0])
for _name in (
    "rbf_kernel",
    "polynomial_kernel",
    "linear_kernel",
    "sigmoid_kernel",
    "laplacian_kernel",
    "cosine_similarity",
    "euclidean_distances",
    "manhattan_distances",
    "cosine_distances",
):
    works(f"pairwise.{_name}", getattr(pairwise, _name), X, NEW)
for _name, _kernel in {
    "RBF": kernels.RBF(1.3),
    "Matern": kernels.Matern(1.3, nu=1.5),
    "RationalQuadratic": kernels.RationalQuadratic(1.3, 0.7),
    "DotProduct": kernels.DotProduct(0.5),
    "ExpSineSquared": kernels.ExpSineSquared(1.3, 2.1),
    "sum and product": kernels.RBF(1.3) * 2.0 + kernels.WhiteKernel(0.1),
}.items():
    works(f"kernels.{_name}", _kernel, X, NEW)
works("silhouette_score", lambda x: metrics.silhouette_score(x, CLASSES), X)
