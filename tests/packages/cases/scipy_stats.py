"""Cases of `scipy.stats`."""

import numpy as np
from scipy import stats

from tests.packages.suite import Package

PACKAGE = Package("scipy.stats")
works = PACKAGE.works

X = np.array([0.3, 1.1, 2.4, 0.7])
UNIT = np.array([0.15, 0.4, 0.62, 0.88])
A = np.array([[1.0, 2.0, 0.5], [0.3, 1.5, 2.2], [2.5, 0.1, 0.9], [1.9, 1.2, 0.4]])
SYMMETRIC = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, 0.2], [0.1, 0.2, 1.1]])

DISTRIBUTIONS = {
    "norm": (),
    "expon": (),
    "gamma": (2.3,),
    "beta": (1.7, 2.9),
    "lognorm": (0.8,),
    "logistic": (),
    "cauchy": (),
    "laplace": (),
    "gumbel_r": (),
    "gumbel_l": (),
    "weibull_min": (1.6,),
    "t": (5.2,),
    "chi2": (3.3,),
    "invgamma": (3.1,),
    "pareto": (2.6,),
    "rayleigh": (),
    "halfnorm": (),
    "genextreme": (0.1,),
    "uniform": (),
}
METHODS = ("pdf", "logpdf", "cdf", "sf", "ppf")


def call(name, method):
    """Return a function of points, location, scale and shapes."""

    def called(x, loc, scale, *shapes):
        return getattr(getattr(stats, name), method)(x, *shapes, loc=loc, scale=scale)

    return called


for _name, _shapes in DISTRIBUTIONS.items():
    for _method in METHODS:
        _inside = UNIT if _method == "ppf" or _name in ("beta", "uniform") else X + 1.0
        _loc, _scale = (0.0, 1.0) if _name in ("beta", "uniform", "pareto") else (0.1, 1.3)
        if _name == "pareto" and _method != "ppf":
            _inside = X + 2.0
        works(f"{_name}.{_method}", call(_name, _method), _inside, _loc, _scale, *_shapes)


works("norm(mu, sigma).logpdf", lambda x, m, s: stats.norm(m, s).logpdf(x), X, 0.2, 1.4)
works("norm.logcdf", stats.norm.logcdf, X)
works("norm.isf", stats.norm.isf, UNIT)
works("poisson.logpmf", lambda m: stats.poisson.logpmf(np.array([0, 2, 5]), m), 2.3)
works("binom.logpmf", lambda p: stats.binom.logpmf(np.array([0, 2, 5]), 7, p), 0.3)
works("nbinom.pmf", lambda p: stats.nbinom.pmf(np.array([0, 2, 5]), 4.0, p), 0.3)
works(
    "multivariate_normal.logpdf",
    lambda x, mean, cov: stats.multivariate_normal.logpdf(x, mean, cov @ cov.T),
    A,
    A[0],
    SYMMETRIC,
)
works("dirichlet.logpdf", lambda a: stats.dirichlet.logpdf(np.array([0.2, 0.3, 0.5]), a), X[:3] + 1)
works("wishart.logpdf", lambda s: stats.wishart.logpdf(SYMMETRIC, 5, s @ s.T), SYMMETRIC)
works("gaussian_kde", lambda x, p: stats.gaussian_kde(x)(p), X, UNIT)
works("pearsonr", lambda x, y: stats.pearsonr(x, y).statistic, A[:, 0], A[:, 1])
works("zscore", stats.zscore, X)
works("linregress", lambda x, y: tuple(stats.linregress(x, y))[:2], X, UNIT)
works("ttest_ind", lambda x, y: stats.ttest_ind(x, y).statistic, X, UNIT)
works("ttest_1samp", lambda x: stats.ttest_1samp(x, 0.1).statistic, X)
works("f_oneway", lambda x, y: stats.f_oneway(x, y).statistic, X, UNIT)
works("skew", stats.skew, X)
works("kurtosis", stats.kurtosis, X)
works("moment", lambda x: stats.moment(x, 3), X)
works("gmean", stats.gmean, X)
works("hmean", stats.hmean, X)
works("pmean", lambda x: stats.pmean(x, 2.5), X)
works("sem", stats.sem, X)
works("variation", stats.variation, X)
works("trim_mean", lambda x: stats.trim_mean(x, 0.25), X)
works("iqr", stats.iqr, X)
works("entropy", stats.entropy, X)
works("entropy(p, q)", stats.entropy, X, UNIT)
works("boxcox_llf", lambda x: stats.boxcox_llf(0.4, x), X)
works("boxcox(lmbda)", lambda x, lmbda: stats.boxcox(x, lmbda), X, 0.4)
works("yeojohnson(lmbda)", lambda x: stats.yeojohnson(x, 0.4), X)
works("wasserstein_distance", stats.wasserstein_distance, X, UNIT)
works("energy_distance", stats.energy_distance, X, UNIT)
works("circmean", lambda x: stats.circmean(x), X)
works("circvar", lambda x: stats.circvar(x), X)
works("norm.nnlf", lambda m, s: stats.norm.nnlf((m, s), X), 0.3, 1.2)
works("norm.entropy", lambda s: stats.norm.entropy(0.0, s), 1.3)
works("gamma.mean", lambda a, s: stats.gamma.mean(a, scale=s), 2.0, 1.3)
works("gamma.var", lambda a, s: stats.gamma.var(a, scale=s), 2.0, 1.3)
works("gamma.std", lambda a, s: stats.gamma.std(a, scale=s), 2.0, 1.3)
works("Normal.logpdf", lambda m, s, x: stats.Normal(mu=m, sigma=s).logpdf(x), 0.2, 1.1, X)
works("Normal.cdf", lambda m, s, x: stats.Normal(mu=m, sigma=s).cdf(x), 0.2, 1.1, X)
