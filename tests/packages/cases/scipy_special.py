"""Cases of `scipy.special`."""

import numpy as np
from scipy import special

from tests.packages.suite import Package

PACKAGE = Package("scipy.special")
works = PACKAGE.works

X = np.array([0.3, 0.9, 1.7, 2.6])
UNIT = np.array([0.15, 0.4, 0.62, 0.88])

for _name in [
    "gamma",
    "gammaln",
    "psi",
    "erf",
    "erfc",
    "erfcx",
    "erfi",
    "dawsn",
    "erfinv",
    "ndtr",
    "ndtri",
    "log_ndtr",
    "expit",
    "logit",
    "log_expit",
    "expm1",
    "log1p",
    "exprel",
    "cosm1",
    "cbrt",
    "exp2",
    "exp10",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "k0",
    "k0e",
    "k1",
    "k1e",
    "j0",
    "j1",
    "y0",
    "y1",
    "ellipk",
    "ellipe",
    "spence",
    "exp1",
    "expi",
    "entr",
    "sinc",
    "lambertw",
    "loggamma",
    "rgamma",
    "digamma",
]:
    _points = UNIT if _name in ("erfinv", "ndtri", "logit", "ellipk", "ellipe", "spence") else X
    works(_name, getattr(special, _name), _points)

works("zeta", lambda x: special.zeta(x), X + 1.2)
works("softmax", special.softmax, X)
works("log_softmax", special.log_softmax, X)
works("logsumexp", special.logsumexp, X)
works("logsumexp(b=)", lambda x, b: special.logsumexp(x, b=b), X, UNIT)
works("xlogy", special.xlogy, X, UNIT)
works("xlog1py", special.xlog1py, X, UNIT)
works("kl_div", special.kl_div, X, UNIT)
works("rel_entr", special.rel_entr, X, UNIT)
works("huber", lambda x: special.huber(1.0, x), X)
works("pseudo_huber", special.pseudo_huber, X, UNIT)
works("beta", special.beta, X, UNIT)
works("betaln", special.betaln, X, UNIT)
works("betainc(x)", lambda x: special.betainc(2.0, 3.0, x), UNIT)
works("gammainc(x)", lambda x: special.gammainc(2.0, x), X)
works("gammaincinv(y)", lambda y: special.gammaincinv(2.0, y), UNIT)
works("multigammaln", lambda a: special.multigammaln(a, 2), X + 1)
works("polygamma", lambda x: special.polygamma(2, x), X)
works("binom", lambda n, k: special.binom(n, k), X + 2, UNIT)
works("comb", lambda n: special.comb(n, 2), X + 2)
works("poch", special.poch, X, UNIT)
works("boxcox", special.boxcox, X, UNIT)
works("inv_boxcox", special.inv_boxcox, X, UNIT)
works("jv(x)", lambda x: special.jv(1.5, x), X)
works("iv(x)", lambda x: special.iv(1.5, x), X)
works("kv(x)", lambda x: special.kv(1.5, x), X)
works("yv(x)", lambda x: special.yv(1.5, x), X)
works("airy", special.airy, X)
works("sici", special.sici, X)
works("fresnel", special.fresnel, X)
works("hyp2f1(z)", lambda z: special.hyp2f1(0.5, 1.5, 2.5, z), UNIT)
works("hyp1f1(z)", lambda z: special.hyp1f1(0.5, 1.5, z), X)
works("expn", lambda x: special.expn(2, x), X)
works("struve", lambda x: special.struve(1, x), X)
works("ellipkinc", special.ellipkinc, X, UNIT)
works("ellipj", lambda u: special.ellipj(u, 0.4), X)
works("eval_legendre", lambda x: special.eval_legendre(4, x), UNIT)
works("eval_hermite", lambda x: special.eval_hermite(4, x), X)
works("eval_chebyt", lambda x: special.eval_chebyt(4, x), UNIT)
works("legendre polynomial", lambda x: special.legendre(4)(x), UNIT)
works("owens_t", special.owens_t, X, UNIT)
works("voigt_profile", special.voigt_profile, X, UNIT, X)
works("spherical_jn", lambda x: special.spherical_jn(2, x), X)
works("sph_harm_y", lambda t, p: special.sph_harm_y(2, 1, t, p), X, UNIT)
works("wofz", lambda x: special.wofz(x + 0.5j), X)
works("agm", special.agm, X, UNIT)
works("stdtr(t)", lambda t: special.stdtr(4.0, t), X)
works("softplus", special.softplus, X)
