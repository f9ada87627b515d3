"""Statements with solvers whose callbacks count, cache, keep logs and start warm."""

from __future__ import annotations

from importlib.util import find_spec

from tests.programs.brought.fragments import Fragment, Statement, write_fragment
from tests.programs.writer import Writer

__all__ = ["STATEMENTS"]

# Solvers of a residual R(x) = x ** 3 + x - c, a function G(x) = (x - c) ** 2 + 0.1 * x ** 4 and an
# integrand H(x) = cos(c * x), which are made of the number c = C(x) that a callback remembers.
RESIDUAL = "x ** 3 + x - {c}"
GOAL = "(x - {c}) ** 2 + 0.1 * x ** 4"
INTEGRAND = "np.cos({c} * x) * 0.5"
SOLVERS = (
    (RESIDUAL, "optimize.brentq(R, -9.0, 9.0, xtol=1e-13, rtol=1e-13)"),
    (RESIDUAL, "optimize.newton(R, 0.8, tol=1e-13)"),
    (RESIDUAL, "optimize.newton(R, 0.8, fprime=lambda x: 3 * x * x + 1.0, tol=1e-13)"),
    (RESIDUAL, "optimize.root_scalar(R, bracket=(-9.0, 9.0), xtol=1e-13).root"),
    (RESIDUAL, "optimize.root_scalar(R, x0=0.5, x1=0.9, method='secant', xtol=1e-13).root"),
    (RESIDUAL, "optimize.bisect(R, -9.0, 9.1, xtol=1e-13, rtol=1e-13)"),
    (RESIDUAL, "optimize.toms748(R, -9.0, 9.0, xtol=1e-13, rtol=1e-13)"),
    (RESIDUAL, "optimize.fsolve(lambda v: [R(v[0])], [0.8], xtol=1e-13)[0]"),
    (RESIDUAL, "optimize.root(lambda v: np.array([R(v[0])]), [0.8], tol=1e-13).x[0]"),
    (RESIDUAL, "optimize.least_squares(lambda v: [R(v[0])], [0.8], xtol=1e-15, ftol=1e-15, "
               "gtol=1e-15).x[0]"),
    (RESIDUAL, "implicit(lambda p: optimize.brentq(R, -9.0, 9.0, xtol=1e-13), "
               "lambda x, p: R(x) * p / p)(1.0)"),
    (GOAL, "optimize.minimize(lambda v: R(v[0]), [0.8], tol=1e-11, jac=lambda v: np.array("
           "[2 * (v[0] - {c}) + 0.4 * v[0] ** 3])).x[0]"),
    (INTEGRAND, "integrate.quad(R, 0.0, 1.0, epsabs=1e-12)[0]"),
    (INTEGRAND, "integrate.quad_vec(lambda x: np.array([R(x), 0.3]), 0.0, 1.0)[0][0]"),
    (INTEGRAND, "integrate.dblquad(lambda u, x: R(x) * u, 0.0, 1.0, 0.0, 1.0)[0]"),
    (INTEGRAND, "integrate.odeint(lambda y, x: R(x) - 0.2 * y, 0.3, [0.0, 0.5, 1.0], rtol=1e-11, "
                "atol=1e-11)[-1, 0]"),
    (INTEGRAND, "integrate.solve_ivp(lambda x, y: [R(x) - 0.2 * y[0]], (0.0, 1.0), [0.3], "
                "rtol=1e-6).y[0, -1]"),
    (INTEGRAND, "integrate.solve_ivp(lambda x, y: [R(x) - 0.2 * y[0]], (0.0, 1.0), [0.3], "
                "method='LSODA', rtol=1e-11, atol=1e-11).y[0, -1]"),
)  # fmt: skip

# What a callback remembers: lines before its definition, within it, the number, a name to read
# afterwards, and what stands in the module.
HEAVY = "{s} * {t} + 0.6"
MEMORIES = (
    ("kept{k} = None", "nonlocal kept{k}\nif kept{k} is None:\n    kept{k} = " + HEAVY, "kept{k}",
     "kept{k}"),
    ("kept{k} = {{}}", "if 'c' not in kept{k}:\n    kept{k}['c'] = " + HEAVY, "kept{k}['c']",
     "len(kept{k})"),
    ("kept{k} = [0]", "kept{k}[0] += 1", HEAVY, "(kept{k}[0] > 0)"),
    ("kept{k} = 0", "nonlocal kept{k}\nkept{k} += 1", HEAVY, "0.001 * kept{k}"),
    ("kept{k} = []", "kept{k}.append(float(x))", HEAVY, "0.001 * len(kept{k})"),
    ("kept{k} = np.zeros(2)", "kept{k}[0] = " + HEAVY, "kept{k}[0]", "kept{k}[0]"),
    ("kept{k} = np.zeros(2)", "kept{k}[1] += 1.0", HEAVY, "0.001 * kept{k}[1]"),
    ("kept{k} = Model{k}({s})", "", "kept{k}.c + {t}", "kept{k}.c",
     "class Model{k}:\n    def __init__(self, a):\n        self.a = a\n"
     "    @functools.cached_property\n    def c(self):\n        return self.a * self.a + 0.5"),
    ("kept{k} = Model{k}({s})", "", "kept{k}.heavy() + {t}", "kept{k}.calls * 0.001",
     "class Model{k}:\n    calls = 0\n    b = None\n    def __init__(self, a):\n        self.a = a\n"
     "    def heavy(self):\n        self.calls += 1\n        if self.b is None:\n"
     "            self.b = self.a * self.a\n        return self.b + 0.4"),
    ("kept{k} = [None, None]", "if kept{k}[0] != x:\n    kept{k}[:] = x, x * 0.0 + " + HEAVY,
     "kept{k}[1]", "(kept{k}[0] is not None)"),
    ("", "", "kept{k}({s}) + {t}", "0.5",
     "@functools.lru_cache\ndef kept{k}(a):\n    return a * a + 0.5"),
    ("kept{k} = itertools.count()", "next(kept{k})", HEAVY, "0.001 * next(kept{k})"),
    ("", "KEPT{k}.append(x)", HEAVY, "0.001 * len(KEPT{k})", "KEPT{k} = []"),
    ("", "KEPT{k}['n'] = KEPT{k}.get('n', 0) + 1", HEAVY, "0.001 * KEPT{k}['n']", "KEPT{k} = {{}}"),
    ("", "KEPT{k}.n = getattr(KEPT{k}, 'n', 0) + 1", HEAVY, "0.001 * KEPT{k}.n",
     "KEPT{k} = threading.local()"),
    ("", "KEPT{k}.put(1)", HEAVY, "0.001 * KEPT{k}.qsize()", "KEPT{k} = queue.Queue()"),
    ("", "KEPT{k}.append(1)", HEAVY, "0.01 * len(KEPT{k})", "KEPT{k} = deque(maxlen=3)"),
    ("", "KEPT{k}.update(x=1)", HEAVY, "0.001 * KEPT{k}['x']", "KEPT{k} = Counter()"),
    ("kept{k} = {a} * 1.0", "kept{k} *= 1.0\nkept{k}[0] = {s}", "kept{k}[0] * {t} + 0.4",
     "np.sum(kept{k})"),
    ("kept{k} = set()", "kept{k}.add(round(float(x), 3))", HEAVY, "0.001 * len(kept{k})"),
)  # fmt: skip


def solver_with_memory(w: Writer) -> bool:
    """Call a solver whose callback remembers something, and read that afterwards."""
    formula, solver = w.rng.choice(SOLVERS)
    before, within, number, after, *module = w.rng.choice(MEMORIES)
    lines = ["a{k} = math.tanh({s})", "b{k} = math.tanh({t})", *filter(None, [before])]
    lines += ["def R(x):", *(f"    {line}" for line in within.split("\n") if line)]
    lines += [f"    return {formula.replace('{c}', f'({number})')}"]
    solved = solver.replace("{c}", f"({number})").replace("R(", "R{k}(").replace("(R,", "(R{k},")
    lines[lines.index("def R(x):")] = "def R{k}(x):"
    lines += [f"q{{k}} = {solved}", f"{{o}} = float(q{{k}}) + {after} + seen(q{{k}})"]
    if w.chance(0.3):  # a second time, with what is remembered
        lines += [f"q{{k}} = {solved}", f"{{o}} = {{o}} + float(q{{k}}) * {after}"]
    head = lines[:2]
    rest = [line.replace("{s}", "a{k}").replace("{t}", "b{k}") for line in lines[2:]]
    return write_fragment(w, Fragment("\n".join([*head, *rest]), *module))


STATEMENTS: dict[Statement, int] = {solver_with_memory: 8} if find_spec("scipy") else {}
