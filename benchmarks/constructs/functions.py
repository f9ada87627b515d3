"""Functions of Python and NumPy on numbers and arrays, and what they may cost in microseconds."""

from benchmarks.constructs.construct import Construct

__all__ = ["FUNCTIONS"]


def number(name: str, call: str, limit: float | None = None) -> Construct:
    """Return the construct of a call that returns a number."""
    body = f"y = {call}\nt = t + y"
    return Construct(name, body, "t = s\nx = s * 1.5", "y = x\nt = t + y", limit, "t")


def array(name: str, call: str, like: str = "a", limit: float | None = None) -> Construct:
    """Return the construct of a call that returns an array of the shape of `like`."""
    setup = f"t = {like} * 0.5\nx = s * 1.5\nz = {like} * 1.0"
    return Construct(name, f"y = {call}\nt = t + y", setup, "y = z\nt = t + y", limit, "np.sum(t)")


NUMBERS = [
    number("math.exp(x)", "math.exp(x)"),
    number("math.hypot(x, s)", "math.hypot(x, s)"),
    number("abs(x)", "abs(x)"),
    number("max(x, 0.5)", "max(x, 0.5)", limit=1),
    number("min(x, s, 0.25)", "min(x, s, 0.25)"),
    number("sum([x, s, x])", "sum([x, s, x])", limit=3.5),
    number("float(x)", "float(x)"),
    number("round(x, 2)", "round(x, 2)"),
    number("x ** s", "x ** s"),
    number("np.sin(x)", "np.sin(x)"),
    number("np.sqrt(x)", "np.sqrt(x)"),
    number("np.maximum(x, 0.5)", "np.maximum(x, 0.5)", limit=4),
    number("np.clip(x, 0.0, 3.0)", "np.clip(x, 0.0, 3.0)", limit=5),
    number("np.interp(x, .., ..)", "np.interp(x, [0.0, 1.0, 2.0], a)", limit=16),
    number("np.where(x > .5, x, s)", "np.where(x > 0.5, x, s)", limit=10),
    number("np.power(x, 1.5)", "np.power(x, 1.5)", limit=8),
    number("np.hypot(x, s)", "np.hypot(x, s)"),
    number("np.abs(x)", "np.abs(x)"),
    number("np.polyval([..], x)", "np.polyval([1.0, 2.0, 3.0], x)"),
]

SMALL = [
    array("np.array([x, s, 1.0])", "np.array([x, s, 1.0])", limit=7),
    array("np.sin(a)", "np.sin(a)"),
    array("np.maximum(a, 0.5)", "np.maximum(a, 0.5)"),
    array("np.where(a > .5, a, x)", "np.where(a > 0.5, a, x)"),
    array("np.clip(a, 0, 3)", "np.clip(a, 0.0, 3.0)"),
    number("np.sum(a)", "np.sum(a)", limit=9),
    number("a.sum()", "a.sum()", limit=9),
    number("np.mean(a)", "np.mean(a)"),
    number("np.var(a)", "np.var(a)"),
    number("np.max(a)", "np.max(a)", limit=17),
    number("np.prod(a)", "np.prod(a)"),
    number("np.median(a)", "np.median(a)"),
    number("np.average(a, weights)", "np.average(a, weights=[0.2, 0.3, 0.5])"),
    number("np.dot(a, a)", "np.dot(a, a)", limit=18),
    number("a @ a", "a @ a"),
    number("np.vdot(a, a)", "np.vdot(a, a)"),
    number("np.trapezoid(a)", "np.trapezoid(a)"),
    array("a.copy()", "a.copy()", limit=6),
    array("np.cumsum(a)", "np.cumsum(a)", limit=18),
    array("np.concatenate([a[:1], a[1:]])", "np.concatenate([a[:1], a[1:]])", limit=20),
    array("np.stack([a, a])", "np.stack([a, a])", "np.array([a, a])", limit=20),
    array("np.hstack([a, a])", "np.hstack([a, a])[:3]"),
    array("np.diff(a)", "np.diff(a)", "a[1:]", limit=18),
    array("np.gradient(a)", "np.gradient(a)"),
    array("np.outer(a, a)", "np.outer(a, a)", "m", limit=22),
    number("np.linalg.norm(a)", "np.linalg.norm(a)", limit=15),
    array("np.cross(a, a)", "np.cross(a, a[::-1])"),
    array("np.sort(a)", "np.sort(a)"),
    array("np.flip(a)", "np.flip(a)"),
    array("np.roll(a, 1)", "np.roll(a, 1)"),
    array("np.tile(a, 2)", "np.tile(a, 2)[:3]"),
    array("np.repeat(a, 2)", "np.repeat(a, 2)[:3]"),
    array("np.convolve(a, a)", "np.convolve(a, [0.5, 0.5])[:3]"),
    array("np.zeros(3)", "np.zeros(3)"),
    array("np.zeros_like(a)", "np.zeros_like(a)"),
    array("a[::-1]", "a[::-1]"),
    number("a[1]", "a[1]"),
    array("a[1:]", "a[1:]", "a[:2]"),
    array("a[[0, 2]]", "a[[0, 2]]", "a[:2]"),
    array("a[a > .5]", "a[a > 0.0]"),
    array("a.reshape(3, 1)", "a.reshape(3, 1)", "m[:, :1]", limit=8),
    array("np.interp(a, .., a)", "np.interp(a, [0.0, 1.0, 2.0], a)"),
    array("np.split(a, [1])", "np.split(a, [1])[1]", "a[1:]"),
    array("np.apply_along_axis", "np.apply_along_axis(lambda r: r * 2.0, 0, a)"),
]

MATRICES = [
    array("m @ a", "m @ a"),
    array("m.T", "m.T", "m", limit=8),
    array("m[1]", "m[1]"),
    array("m[:, 1]", "m[:, 1]"),
    array("np.sum(m, axis=0)", "np.sum(m, axis=0)"),
    array("np.mean(m, axis=1, keepdims)", "np.mean(m, axis=1, keepdims=True)", "m[:, :1]"),
    number("np.trace(m)", "np.trace(m)"),
    array("np.diag(m)", "np.diag(m)"),
    array("np.einsum('ij,j->i', m, a)", "np.einsum('ij,j->i', m, a)", limit=45),
    array("np.tensordot(m, a, 1)", "np.tensordot(m, a, 1)"),
    array("np.linalg.solve(m, a)", "np.linalg.solve(m, a)", limit=60),
    array("np.linalg.inv(m)", "np.linalg.inv(m)", "m"),
    number("np.linalg.det(m)", "np.linalg.det(m)"),
    array("np.linalg.cholesky(m)", "np.linalg.cholesky(m)", "m"),
    array("np.linalg.eigh(m)[0]", "np.linalg.eigh(m)[0]"),
    array("np.cov(m)", "np.cov(m)", "m"),
    array("np.kron(a, a)", "np.kron(a, a)[:3]"),
]

LARGE = [
    array("np.sin(b)", "np.sin(b)", "b"),
    array("b * b", "b * b", "b"),
    number("np.sum(b)", "np.sum(b)"),
    number("b @ b", "b @ b"),
    array("np.cumsum(b)", "np.cumsum(b)", "b"),
    array("np.where(b > 0, b, 0.0)", "np.where(b > 0.0, b, 0.0)", "b"),
    array("np.concatenate([b, b])", "np.concatenate([b, b])[:1000]", "b"),
    array("np.diff(b)", "np.diff(b)", "b[1:]"),
    number("np.max(b)", "np.max(b)"),
    array("np.interp(b, b, b)", "np.interp(b, b, b)", "b"),
    array("np.roll(b, 1)", "np.roll(b, 1)", "b"),
    array("np.exp(-b ** 2)", "np.exp(-b ** 2)", "b"),
]

FUNCTIONS = [*NUMBERS, *SMALL, *MATRICES, *LARGE]
