"""Cases of `scikit-fem`."""

import numpy as np
import skfem
from skfem.helpers import dot, grad

from tests.packages.suite import Package

PACKAGE = Package("scikit-fem")
works = PACKAGE.works

MESH = skfem.MeshTri().refined(2)
BASIS = skfem.Basis(MESH, skfem.ElementTriP1())
LINE = skfem.Basis(skfem.MeshLine(np.linspace(0, 1, 9)), skfem.ElementLineP1())
U = np.cos(np.arange(float(BASIS.N)))
K = np.linspace(0.5, 1.5, MESH.nelements)


@skfem.BilinearForm
def laplace(u, v, w):
    return dot(grad(u), grad(v))


@skfem.BilinearForm
def mass(u, v, w):
    return u * v


@skfem.BilinearForm
def conductivity(u, v, w):
    return w["k"] * dot(grad(u), grad(v))


@skfem.LinearForm
def load(v, w):
    return w["f"] * v


@skfem.LinearForm
def unit(v, w):
    return 1.0 * v


@skfem.Functional
def energy(w):
    return 0.5 * dot(grad(w["u"]), grad(w["u"])) + w["u"] ** 4


STIFFNESS = laplace.assemble(BASIS)
UNIT = unit.assemble(BASIS)


def coefficient(k):
    return k[:, None] * np.ones(BASIS.X.shape[-1])


works("basis.interpolate", lambda u: np.asarray(BASIS.interpolate(u)), U)
works("basis.interpolate gradient", lambda u: BASIS.interpolate(u).grad, U)
works("Functional.assemble", lambda u: energy.assemble(BASIS, u=BASIS.interpolate(u)), U)
works("Functional.elemental", lambda u: energy.elemental(BASIS, u=BASIS.interpolate(u)), U)
works("LinearForm.assemble", lambda f: load.assemble(BASIS, f=BASIS.interpolate(f)), U)
works("constant matrix @ u", lambda u: u @ (STIFFNESS @ u), U)
works("BilinearForm.assemble @ u", lambda k: conductivity.assemble(BASIS, k=coefficient(k)) @ U, K)
works(
    "BilinearForm.assemble.toarray",
    lambda k: conductivity.assemble(BASIS, k=coefficient(k)).toarray(),
    K,
)
works("BilinearForm.coo_data", lambda k: conductivity.coo_data(BASIS, k=coefficient(k)).data, K)
works(
    "solve(condense)",
    lambda k: skfem.solve(
        *skfem.condense(conductivity.assemble(BASIS, k=coefficient(k)), UNIT, D=BASIS.get_dofs())
    ),
    K,
)
works(
    "solve(enforce)",
    lambda k: skfem.solve(
        *skfem.enforce(conductivity.assemble(BASIS, k=coefficient(k)), UNIT, D=BASIS.get_dofs())
    ),
    K,
)
works(
    "solve of an active load",
    lambda f: skfem.solve(
        *skfem.condense(STIFFNESS, load.assemble(BASIS, f=BASIS.interpolate(f)), D=BASIS.get_dofs())
    ),
    U,
)
works(
    "line: solve",
    lambda k: skfem.solve(
        *skfem.condense(
            conductivity.assemble(LINE, k=k * np.ones((8, LINE.X.shape[-1]))),
            unit.assemble(LINE),
            D=LINE.get_dofs(),
        )
    ),
    1.3,
)
works(
    "projection",
    lambda u: BASIS.project(u[MESH.t].mean(axis=0)[:, None] * np.ones(BASIS.X.shape[-1])),
    U,
)
works("basis.probes", lambda u: BASIS.probes(np.array([[0.3, 0.6], [0.2, 0.7]])) @ u, U)
