"""Statements with objects of classes that have operators, protocols and containers of their own.

Each method counts its calls, and the count becomes part of the value.
"""

from __future__ import annotations

from tests.programs.brought.fragments import Fragment, Statement, vector, write_fragment, written_of
from tests.programs.writer import Writer

__all__ = ["STATEMENTS"]

NUMBER = {  # methods of an object that stands for a number
    "__mul__": "other * {c} + 0.1", "__rmul__": "0.7 * other", "__add__": "other + {c}",
    "__radd__": "other * other + 0.2", "__sub__": "{c} - other * 0.5", "__rsub__": "other - {c}",
    "__truediv__": "{c} / (1.2 + other * other)", "__rtruediv__": "other / 1.7",
    "__rpow__": "(1.1 + other * other) * {c}", "__lt__": "True", "__gt__": "False",
    "__imul__": "other * 0.3", "__iadd__": "other + 0.9", "__matmul__": "other * 0.2",
    "__rmatmul__": "other * 0.45", "__eq__": "True",
}  # fmt: skip
UNARY = {"__neg__": "0.4", "__abs__": "0.8", "__float__": "0.6", "__bool__": "True"}
PROTOCOLS = (
    "", "", "", "    __array_ufunc__ = None", "    __array_priority__ = 100.0",
    "    __array_priority__ = -5.0",
    "    def __array__(self, dtype=None, copy=None):\n        CALLS{k}[0] += 1\n"
    "        return np.array([0.5, 0.7, 0.9])[:1]",
    "    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):\n        CALLS{k}[0] += 1\n"
    "        return ufunc(*[0.8 if i is self else i for i in inputs]) * {c}",
    "    def __array_function__(self, func, types, args, kwargs):\n        CALLS{k}[0] += 1\n"
    "        return {c} + 0.2 * len(args)",
)  # fmt: skip
USES = (  # of an object p and a number or array v
    "p * v", "v * p", "p + v", "v + p", "v - p", "p - v", "v / p", "p / v", "v ** p", "v @ p",
    "p @ v", "np.multiply(v, p)", "np.multiply(p, v)", "np.add(v, p)", "sum([v, p])",
    "sum([p, v], 0.1)", "operator.mul(p, v)", "operator.sub(v, p)", "operator.iadd(v * 1.0, p)",
    "(v if p < 0.5 else 0.3 * v)", "(0.2 * v if 0.4 > p else v)", "np.dot(v, p)",
    "functools.reduce(operator.add, [v, p, 0.4])", "abs(p) * v", "-p * v", "float(p) * v",
    "(v * 2.0 if p else v)", "np.float64(0.6) * p * v", "np.float64(0.3) + p + v",
    "max(p, 0.2) * v", "v * (p == v)", "p.__mul__(v)", "np.maximum(v, p)", "math.sin(p) * v",
    "np.hypot(v, p)", "np.sum([v, p])", "np.where(True, v, p)", "np.full(3, p) * v",
)  # fmt: skip


def number_of_a_class(w: Writer) -> bool:
    """Define a class of numbers, and use one with a number or a vector."""
    chosen = w.rng.sample(sorted(NUMBER), w.rng.randrange(2, 8))
    methods = [
        f"    def {name}(self, other):\n        CALLS{{k}}[0] += 1\n        return {NUMBER[name]}"
        for name in chosen
    ]
    methods += [
        f"    def {name}(self):\n        CALLS{{k}}[0] += 1\n        return {UNARY[name]}"
        for name in w.rng.sample(sorted(UNARY), w.rng.randrange(3))
    ]
    if "__eq__" in chosen:
        methods.append("    __hash__ = object.__hash__")
    methods.append(w.rng.choice(PROTOCOLS))
    base = w.pick("", "(float)", "(float)", "(int)", "(np.float64)")
    head = ["CALLS{k} = [0]", f"class Number{{k}}{base}:"]
    made = f"P{{k}} = Number{{k}}({'' if not base else '2' if base == '(int)' else '0.75'})"
    module = "\n".join([*head, "    tag = 0.5", *filter(None, methods), made])
    text = w.pick("{a}", "{s}", "{s}", "np.float64({s})")
    use = w.rng.choice(USES)
    lines = [f"v{{k}} = {text}", "p{k} = P{k}", "try:", f"    q{{k}} = {_with(use)}",
             "except TypeError:", "    q{k} = v{k} * 0.35",
             "{o} = float(np.sum(q{k})) + 0.01 * CALLS{k}[0] + seen(q{k})"]  # fmt: skip
    if w.chance(0.2):
        sign = w.pick("*=", "+=", "-=", "@=")
        lines[3] = f"    q{{k}} = v{{k}} * 1.0\n    q{{k}} {sign} p{{k}}"
    return write_fragment(w, Fragment("\n".join(lines), module))


def _with(use: str) -> str:
    """Return a use with the names of this class."""
    out, text = "", f" {use} "
    for i, letter in enumerate(text):
        alone = letter in "pv" and not (text[i - 1].isalnum() or text[i - 1] in "._")
        alone = alone and not (text[i + 1 : i + 2].isalnum() or text[i + 1 : i + 2] == "_")
        out += letter + "{k}" if alone else letter
    return out.strip()


SEQUENCES = (  # of cells that are read by number in a unit, and passed as they are
    "class Cells{k}:\n    def __init__(self, *cells):\n        self.cells = cells\n"
    "    def __len__(self):\n        return len(self.cells)\n    def __iter__(self):\n"
    "        return iter(self.cells)\n    def __getitem__(self, i):\n"
    "        return self.cells[i] * {c}",
    "class Cells{k}(list):\n    def __init__(self, *cells):\n        super().__init__(cells)\n"
    "    def __iter__(self):\n        return (v * {c} for v in super().__iter__())",
    "class Cells{k}(tuple):\n    def __new__(cls, *cells):\n"
    "        return tuple.__new__(cls, cells)",
)
READINGS = (
    "np.max(q{k})", "np.hstack([q{k}, {a}]).sum()", "np.array(q{k})[0]", "np.sum(q{k})",
    "np.dot(q{k}, [0.3, 0.8])", "np.interp(0.4, [0.0, 1.0], q{k})", "np.linalg.norm(q{k})",
    "np.einsum('i,i->', q{k}, [0.4, 0.9])", "np.array([q{k}, q{k}]).sum()", "math.fsum(q{k})",
    "np.where([True, False], q{k}, 0.4).sum()", "(np.ones(2) + q{k}).sum()", "sum(q{k})",
    "np.argmax(q{k}) * {s}", "np.shape(q{k})[0] * {s}", "np.allclose(q{k}, 0.3) * {s}",
    "(np.full(2, 0.6) > q{k}).sum() * {s}", "np.zeros_like(q{k}).sum() + {s}",
    "math.dist(q{k}, (0.1, 0.2))", "statistics.fmean(q{k})", "np.argsort(q{k})[0] * {s}",
    "len('%(u).2f' % Named{k}(u={s})) * {t}",
)  # fmt: skip
NAMED = (
    "class Named{k}(dict):\n    def __getitem__(self, key):\n"
    "        return super().__getitem__(key) * {c}\n"
)


def sequence_of_a_class(w: Writer) -> bool:
    """Define a class of sequences, and let functions read one."""
    reading = w.rng.choice(READINGS)
    module = (NAMED if "Named" in reading else "") + w.rng.choice(SEQUENCES)
    lines = ["q{k} = Cells{k}({s}, {t})", "{o} = " + reading]
    if w.chance(0.3):
        lines += ["r{k} = np.zeros(2)", "r{k}[:] = q{k}", "np.copyto(r{k}[:1], Cells{k}({t}))",
                  "{o} = {o} + r{k}[0] * r{k}[1]"]  # fmt: skip
    return write_fragment(w, Fragment("\n".join(lines), module))


ARRAY_METHODS = (
    "", "    def __array_finalize__(self, obj):\n        CALLS{k}[0] += 1",
    "    def __mul__(self, other):\n        CALLS{k}[0] += 1\n"
    "        return np.asarray(self) * other * {c}",
    "    def __rmul__(self, other):\n        CALLS{k}[0] += 1\n"
    "        return other * np.asarray(self) + {c}",
    "    def __getitem__(self, i):\n        CALLS{k}[0] += 1\n"
    "        return super().__getitem__(i) * {c}",
    "    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):\n        CALLS{k}[0] += 1\n"
    "        plain = [np.asarray(i) if isinstance(i, Array{k}) else i for i in inputs]\n"
    "        return getattr(ufunc, method)(*plain, **kwargs) * {c}",
    "    def __array_wrap__(self, a, context=None, scalar=False):\n        CALLS{k}[0] += 1\n"
    "        return np.asarray(a)",
)  # fmt: skip
ARRAY_USES = (
    "{r} = np.asarray(A{k} * {a})", "{r} = np.asarray({a} * A{k})", "{r} = np.asarray({a} + A{k})",
    "{r} = np.asarray(np.multiply({a}, A{k}))", "{r} = np.asarray(np.sin(A{k})) * {a}",
    "{o} = float(np.sum(A{k} * {a}))", "{o} = float(A{k}[1] * {s})", "{o} = float(A{k} @ {a})",
    "{r} = {a} * 1.0\n{r} *= A{k}", "{r} = np.asarray(A{k}) - {a}", "{o} = A{k}.sum() * {s}",
    "q{k} = A{k} * {a}\n{o} = seen(q{k}, A{k}, {a}) + float(np.sum(q{k}))",
    "q{k} = np.asarray(A{k})\nq{k}[0] = 0.9\n{o} = seen(q{k}, A{k}) + float(A{k}[0] * {s})",
    "{o} = sum(float(v) for v in A{k}) * {s}", "{r} = np.where(np.asarray(A{k}) > 0.6, {a}, {s})",
    "q{k} = A{k}.copy()\nq{k}[1:] = 0.4\n{o} = float(np.dot(np.asarray(q{k}), {a})) + seen(q{k})",
)  # fmt: skip


def array_of_a_class(w: Writer) -> bool:
    """Define a subclass of arrays, and use a constant of it."""
    methods = [m for m in w.rng.sample(ARRAY_METHODS, w.rng.randrange(1, 4)) if m]
    module = "\n".join(["CALLS{k} = [0]", "class Array{k}(np.ndarray):", "    tag = 0.5",
                        *methods, "A{k} = np.linspace(0.4, 1.1, {n}).view(Array{k})"])  # fmt: skip
    body = w.rng.choice(ARRAY_USES) + "\n{o} = 0.01 * CALLS{k}[0]"
    if w.rng.random() < 0.5 or "{o}" in body.partition("\n{o} = 0.01")[0]:
        body = body.replace("\n{o} = 0.01 *", "\nt{k} = 0.01 *")
    return vector(w) is not None and write_fragment(w, Fragment(body, module))


COUNT = "        CALLS{k}[0] += 1\n"
CONTAINERS = [
    Fragment(
        "d{k} = Dict{k}(u={s}, v={t})\nd{k}['w'] = {a}[0]\n{o} = d{k}['u'] * d{k}['v'] + d{k}['w']"
        " + d{k}['none'] + sum(d{k}.values()) + 0.01 * CALLS{k}[0]",
        "CALLS{k} = [0]\nclass Dict{k}(dict):\n    def __getitem__(self, key):\n" + COUNT
        + "        return super().__getitem__(key) * {c}\n    def __missing__(self, key):\n" + COUNT
        + "        return 0.3\n    def __setitem__(self, key, value):\n" + COUNT
        + "        super().__setitem__(key, value + 0.1)",
    ),
    Fragment(
        "d{k} = Dict{k}(u={s})\nd{k}.update(v={t})\n{o} = sum(d{k}[key] for key in d{k}) + len(d{k})"
        " + 0.01 * CALLS{k}[0] + (d{k}.get('v') if 'v' in d{k} else 0.2)",
        "CALLS{k} = [0]\nclass Dict{k}(dict):\n    def __iter__(self):\n" + COUNT
        + "        return iter(['u', 'u'])\n    def __len__(self):\n" + COUNT
        + "        return 5\n    def __contains__(self, key):\n" + COUNT + "        return key == 'v'",
    ),
    Fragment(
        "l{k} = List{k}([{s}, {t}])\nl{k}.append({a}[1])\nl{k} += [{c}]\n"
        "{o} = l{k}[0] * l{k}[-1] + sum(l{k}) + len(l{k}) + 0.01 * CALLS{k}[0]",
        "CALLS{k} = [0]\nclass List{k}(list):\n    def __getitem__(self, i):\n" + COUNT
        + "        return super().__getitem__(i) * {c}\n    def append(self, value):\n" + COUNT
        + "        super().append(value * 0.5)\n    def __iadd__(self, other):\n" + COUNT
        + "        super().extend(other)\n        return self\n    def __len__(self):\n" + COUNT
        + "        return super().__len__() + 1",
    ),
    Fragment(
        "l{k} = List{k}([{s}, {t}])\nm{k} = l{k} * 2\n{o} = sum(m{k}) + sum(l{k} + [0.2])"
        " + 0.01 * CALLS{k}[0] + seen(m{k}) + (0.3 if {c} in l{k} else 0.6)",
        "CALLS{k} = [0]\nclass List{k}(list):\n    def __mul__(self, n):\n" + COUNT
        + "        return List{k}([v * n for v in self])\n    def __iter__(self):\n" + COUNT
        + "        return super().__iter__()\n    def __contains__(self, v):\n" + COUNT
        + "        return True",
    ),
    Fragment(
        "b{k} = Box{k}({s})\nb{k}.w = {t}\n{o} = b{k}.u * b{k}.v + b{k}.w + len(b{k})"
        " + (0.5 if b{k} else 0.1) + (0.2 if b{k} == b{k} else 0.7) + 0.01 * CALLS{k}[0]",
        "CALLS{k} = [0]\nclass Box{k}:\n    def __init__(self, u):\n        self.u = u\n"
        "    def __getattr__(self, name):\n" + COUNT + "        return self.u * {c}\n"
        "    def __setattr__(self, name, value):\n" + COUNT
        + "        object.__setattr__(self, name, value * 0.9)\n    def __len__(self):\n" + COUNT
        + "        return 2\n    def __eq__(self, other):\n" + COUNT + "        return False\n"
        "    __hash__ = object.__hash__",
    ),
    Fragment(
        "{o} = C{k} * {s} + (0.2 if C{k} > 1 else 0.4) + range(5)[C{k}] + {a}[C{k}]"
        " + 0.01 * CALLS{k}[0]",
        "CALLS{k} = [0]\nclass Int{k}(int):\n    def __gt__(self, other):\n" + COUNT
        + "        return False\n    def __index__(self):\n" + COUNT + "        return 2\n"
        "    def __rmul__(self, other):\n" + COUNT + "        return other\nC{k} = Int{k}(1)",
    ),
]  # fmt: skip

STATEMENTS: dict[Statement, int] = {
    number_of_a_class: 6,
    array_of_a_class: 3,
    sequence_of_a_class: 3,
    written_of("container_of_a_class", CONTAINERS): 4,
}
