"""Statements with objects of SciPy that have methods: splines, rotations, trees of points."""

from __future__ import annotations

from importlib.util import find_spec

from tests.programs.brought.fragments import Fragment, Statement, written_of

__all__ = ["STATEMENTS"]

KNOTS = "KNOTS{k} = np.linspace(-3.0, 3.0, 9)\n"
SPLINE = (
    KNOTS + "SPLINE{k} = interpolate.CubicSpline(KNOTS{k}, np.sin(KNOTS{k}))",
    KNOTS + "SPLINE{k} = interpolate.make_interp_spline(KNOTS{k}, np.cos(KNOTS{k}))",
    KNOTS + "SPLINE{k} = interpolate.PchipInterpolator(KNOTS{k}, KNOTS{k} ** 3)",
    KNOTS + "SPLINE{k} = interpolate.Akima1DInterpolator(KNOTS{k}, np.sin(KNOTS{k}))",
)
OF_SPLINE = (
    "{r} = SPLINE{k}(np.sin({a}))", "{o} = float(SPLINE{k}(math.sin({s})))",
    "{o} = float(SPLINE{k}.derivative()(math.tanh({s})))", "{r} = SPLINE{k}(np.cos({a}), nu=1)",
    "{r} = SPLINE{k}.antiderivative()(np.sin({a}))",
    "q{k} = SPLINE{k}(np.sin({a}))\nq{k}[1:] *= {s}\n{o} = np.sum(q{k}) + seen(q{k}, {a})",
    "q{k} = SPLINE{k}.c\n{o} = seen(q{k}, SPLINE{k}.c) + np.sum(q{k}) * {s}",
    "q{k} = SPLINE{k}.x if hasattr(SPLINE{k}, 'x') else SPLINE{k}.t\n{o} = seen(q{k}, KNOTS{k})"
    " + float(q{k}[1]) * {s}",
)  # fmt: skip
ACTIVE = "np.append({a}, [0.3, {s}])"
MADE = (
    "q{k} = interpolate.CubicSpline(np.arange({n} + 2.0), " + ACTIVE + ")\n"
    "{o} = float(q{k}(1.3)) + seen(q{k}.c) + float(q{k}.c[1, 0])",
    "q{k} = interpolate.interp1d(np.arange({n} + 2.0), " + ACTIVE + ")\n"
    "{o} = float(q{k}(0.7)) + seen(q{k}.y)",
    "q{k} = interpolate.PPoly(np.array([[{s}, 0.3], [0.2, {t}]]), np.array([0.0, 1.0, 2.0]))\n"
    "{o} = float(q{k}(0.4)) * float(q{k}(1.2)) + seen(q{k}.c)",
    "w{k} = np.array([[{s}, 0.3], [0.2, {t}]])\n"
    "q{k} = interpolate.PPoly(w{k}, np.array([0.0, 1.0, 2.0]))\nw{k}[0] *= 0.5\n"
    "{o} = float(q{k}(0.4)) + seen(q{k}.c, w{k})",
    "q{k} = interpolate.BSpline(np.arange({n} + 6.0), " + ACTIVE + ", 3)\n"
    "{o} = float(q{k}(3.4)) + seen(q{k}.c)",
    "w{k} = " + ACTIVE + "\nq{k} = interpolate.BSpline(np.arange({n} + 6.0), w{k}, 3)\n"
    "w{k}[1] = 0.2\n{o} = float(q{k}(3.4)) + seen(q{k}.c, w{k})",
)
ROTATION = "VECTORS{k} = np.asfortranarray(np.arange(12.0).reshape(4, 3) * 0.1)\n"
ROTATED = (
    "q{k} = Rotation.from_rotvec({a}[:3])\nv{k} = q{k}.apply(VECTORS{k})\n"
    "{o} = np.sum(v{k} ** 2 * VECTORS{k}) + seen(v{k}, VECTORS{k})",
    "q{k} = Rotation.from_rotvec({a}[:3])\nv{k} = q{k}.as_quat()\nv{k}[1] *= 0.5\n"
    "{o} = np.sum(q{k}.as_quat() * v{k}) + seen(v{k}, {a})",
    "q{k} = Rotation.from_rotvec({a}[:3])\nv{k} = q{k}.as_matrix()\n"
    "{o} = np.sum(v{k}[:2] * 0.3) + seen(v{k})",
    "q{k} = Rotation.from_rotvec([0.1, 0.2, {c}])\nv{k} = q{k}.apply({a}[:3])\nv{k} *= {s}\n"
    "{o} = v{k}[0] + v{k}[2] + seen(v{k}, {a})",
    "q{k} = Rotation.from_rotvec({a}[:3]) * Rotation.from_rotvec([0.1, 0.2, {c}])\n"
    "v{k} = q{k}.inv().as_rotvec()\n{o} = v{k}[0] * v{k}[1] + seen(v{k})",
    "q{k} = Rotation.from_euler('xyz', {a}[:3])\nv{k} = q{k}.as_euler('xyz')\n"
    "{o} = v{k}[0] * {s} + v{k}[2] + seen(v{k})",
    "q{k} = Rotation.from_quat([0.5 + {s} ** 2, 0.3, 0.1, 1.0])\n{o} = q{k}.magnitude() * 1.0",
)
TREE = "POINTS{k} = np.arange(12.0).reshape(6, 2) ** 1.3\nTREE{k} = spatial.KDTree(POINTS{k})"
OF_TREE = (
    "q{k}, i{k} = TREE{k}.query(np.array([0.4, 0.6]))\n{o} = float(q{k}) * {s} + float(i{k})",
    "q{k} = TREE{k}.data\n{o} = seen(q{k}, POINTS{k}) + q{k}[1, 0] * {s}",
    "{o} = {s}\nfor i in TREE{k}.query_ball_point([1.0, 2.0], 3.0):\n"
    "    {o} = {o} + POINTS{k}[i, 0] * {a}[i % {n}]",
    "q{k}, i{k} = TREE{k}.query(np.tanh({a}[:2]))\n{o} = float(q{k} * {s})",
)

STATEMENTS: dict[Statement, int] = {}
if find_spec("scipy"):
    STATEMENTS = {
        written_of("constant_spline", [Fragment(b, m) for b in OF_SPLINE for m in SPLINE]): 2,
        written_of("spline_of_data", [Fragment(body) for body in MADE]): 2,
        written_of("rotation", [Fragment(body, ROTATION) for body in ROTATED]): 2,
        written_of("tree_of_points", [Fragment(body, TREE) for body in OF_TREE]): 1,
    }
