"""Cases of `statsmodels`."""

import numpy as np
import statsmodels.api as sm
from statsmodels.distributions.empirical_distribution import StepFunction
from statsmodels.genmod import families
from statsmodels.robust import norms, scale
from statsmodels.stats import correlation_tools, moment_helpers, stattools, weightstats
from statsmodels.tools import eval_measures, tools
from statsmodels.tsa import arima_process, filters, tsatools
from statsmodels.tsa import stattools as tsa

from tests.packages.suite import Package

PACKAGE = Package("statsmodels")
works = PACKAGE.works

DRAW = np.random.default_rng(5)
X = np.column_stack([np.ones(12), DRAW.normal(size=(12, 2))])
Y = X @ np.array([0.4, 1.0, -0.7]) + 0.3 * DRAW.normal(size=12)
COUNTS = DRAW.poisson(3.0, 12).astype(float)
BINARY = (DRAW.uniform(size=12) > 0.4).astype(float)
BETA = np.array([0.2, 0.5, -0.3])
WINDOW = np.array([0.2, 0.5, 0.3])
MU = np.array([0.3, 0.6, 0.8])

works("OLS.fit params", lambda y: sm.OLS(y, X).fit().params, Y)
works("OLS.fit bse", lambda y: sm.OLS(y, X).fit().bse, Y)
works("OLS.fit rsquared", lambda y: sm.OLS(y, X).fit().rsquared, Y)
works("OLS.fit predict", lambda y: sm.OLS(y, X).fit().predict(X[:3]), Y)
works("OLS.loglike", lambda b: sm.OLS(Y, X).loglike(b), BETA)
works("OLS exog", lambda x: sm.OLS(Y, x).fit().params, X)
works(
    "WLS.fit params",
    lambda y, w: sm.WLS(y, X, weights=w).fit().params,
    Y,
    np.linspace(0.5, 1.5, 12),
)
works("GLS.fit params", lambda y: sm.GLS(y, X, sigma=np.linspace(0.5, 1.5, 12)).fit().params, Y)
works("Poisson.loglike", lambda b: sm.Poisson(COUNTS, X).loglike(b), BETA)
works("Poisson.loglikeobs", lambda b: sm.Poisson(COUNTS, X).loglikeobs(b), BETA)
works("Poisson.score", lambda b: sm.Poisson(COUNTS, X).score(b), BETA)
works("Poisson.predict", lambda b: sm.Poisson(COUNTS, X).predict(b), BETA)
works("Logit.loglike", lambda b: sm.Logit(BINARY, X).loglike(b), BETA)
works("Logit.score", lambda b: sm.Logit(BINARY, X).score(b), BETA)
works("Probit.loglike", lambda b: sm.Probit(BINARY, X).loglike(b), BETA)
works(
    "NegativeBinomial.loglike",
    lambda b: sm.NegativeBinomial(COUNTS, X).loglike(b),
    np.append(BETA, 0.4),
)
works("MNLogit.loglike", lambda b: sm.MNLogit(BINARY, X).loglike(b), BETA)
works(
    "GLM(Poisson).loglike",
    lambda b: sm.GLM(COUNTS, X, family=sm.families.Poisson()).loglike(b),
    BETA,
)
works(
    "GLM(Binomial).loglike",
    lambda b: sm.GLM(BINARY, X, family=sm.families.Binomial()).loglike(b),
    BETA,
)
works("GLM(Gaussian).score", lambda b: sm.GLM(Y, X).score(b), BETA)
works("families.Poisson.deviance", lambda m: families.Poisson().deviance(COUNTS[:3] + 1, m), MU)
works("families.Gamma.loglike", lambda m: families.Gamma().loglike(MU, m), MU + 0.1)
for _link in ("Logit", "Probit", "CLogLog", "Log", "Identity", "InversePower", "Sqrt", "LogLog"):
    works(f"links.{_link}", getattr(families.links, _link)(), MU)
    works(f"links.{_link}.inverse", getattr(families.links, _link)().inverse, MU)
    if _link != "Identity":  # the slope of which is 1
        works(f"links.{_link}.deriv", getattr(families.links, _link)().deriv, MU)
for _norm in (
    "HuberT",
    "TukeyBiweight",
    "AndrewWave",
    "Hampel",
    "LeastSquares",
    "RamsayE",
    "TrimmedMean",
):
    works(f"robust.norms.{_norm}.rho", getattr(norms, _norm)().rho, Y)
    works(f"robust.norms.{_norm}.psi", getattr(norms, _norm)().psi, Y)
works("robust.scale.mad", scale.mad, Y)
works("robust.scale.huber", lambda y: scale.huber(y), Y, rtol=1e-3)
works("stattools.durbin_watson", stattools.durbin_watson, Y)
works("stattools.jarque_bera", lambda y: stattools.jarque_bera(y)[0], Y)
works("stattools.medcouple", stattools.medcouple, Y)
works("DescrStatsW.mean", lambda y: weightstats.DescrStatsW(y, weights=np.arange(1.0, 13)).mean, Y)
works("DescrStatsW.var", lambda y: weightstats.DescrStatsW(y, weights=np.arange(1.0, 13)).var, Y)
works("weightstats.ttest_ind", lambda a, b: weightstats.ttest_ind(a, b)[0], Y, X[:, 1])
works("cov2corr", moment_helpers.cov2corr, X.T @ X + np.eye(3))
works("corr_nearest", lambda c: correlation_tools.cov_nearest(c), X.T @ X + np.eye(3))
for _measure in ("rmse", "mse", "meanabs", "bias", "medianbias", "vare", "stde"):
    works(f"eval_measures.{_measure}", getattr(eval_measures, _measure), Y, X[:, 1])
works("eval_measures.aic", lambda v: eval_measures.aic(v, 30.0, 3.0), -20.0)
works("add_constant", lambda x: tools.add_constant(x), X[:, 1:])
works("acf", lambda y: tsa.acf(y, nlags=4, fft=False), Y)
works("acf(fft=True)", lambda y: tsa.acf(y, nlags=4), Y)
works("pacf(method='ols')", lambda y: tsa.pacf(y, nlags=3, method="ols"), Y)
works("acovf", lambda y: tsa.acovf(y, fft=False), Y)
works("ccf", lambda x, y: tsa.ccf(x, y), Y, X[:, 1])
works("levinson_durbin", lambda y: tsa.levinson_durbin(y, 3)[1], Y)
works("q_stat", lambda y: tsa.q_stat(y, 12)[0], MU)
works("arma_acovf", lambda a: arima_process.arma_acovf(a, [1.0, 0.4], 5), np.array([1.2, -0.5]))
works("arma2ma", lambda a: arima_process.arma2ma(a, [1.0, 0.4], 5), np.array([1.2, -0.5]))
works("hp_filter", lambda y: filters.hp_filter.hpfilter(y, 10.0), Y)
works("bk_filter", lambda y: filters.bk_filter.bkfilter(y, 2, 6, 2), Y)
works("cf_filter", lambda y: filters.cf_filter.cffilter(y, 2, 6), Y)
works(
    "convolution_filter",
    lambda y: filters.filtertools.convolution_filter(y, WINDOW)[1:-1],
    Y,
)
works("recursive_filter", lambda y: filters.filtertools.recursive_filter(y, np.array([0.4])), Y)
works("tsatools.detrend", lambda y: tsatools.detrend(y, 1), Y)
works("tsatools.lagmat", lambda y: tsatools.lagmat(y, 2), Y)
works("KDEUnivariate", lambda y: kde(y), Y)
PACKAGE.refuses(
    "lowess",
    "compiled, no rule yet",
    "lowess",
    lambda y: sm.nonparametric.lowess(y, X[:, 1], return_sorted=False),
    Y,
)
works("StepFunction", lambda y: StepFunction(np.arange(12.0), y)(np.array([2.5, 7.1])), Y)
PACKAGE.refuses(
    "ARIMA.loglike",
    "its filter is compiled, without a rule",
    "no rule for statsmodels",
    lambda p: sm.tsa.ARIMA(Y, order=(1, 0, 0)).loglike(p),
    np.array([0.1, 0.4, 0.5]),
)


def kde(y):
    estimate = sm.nonparametric.KDEUnivariate(y)
    estimate.fit(fft=False)
    return estimate.density
