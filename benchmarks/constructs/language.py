"""Constructs of the language, with what each may cost in plain calls of an empty function."""

from benchmarks.constructs.construct import Construct

__all__ = ["LANGUAGE", "LOOPS"]

LANGUAGE = [
    Construct("s * v", "s * v"),
    Construct("s < v", "s < v"),
    Construct("function", "s = g(s, v)", limit=30),
    Construct("function, keyword", "s = g(s, y=v)", limit=30),
    Construct("function, keyword-only", "s = keyword_only(s, y=v)", limit=30),
    Construct("function with nonlocal", "s = f(s)", "f = counting()", limit=45),
    Construct("lambda", "f = lambda x: x\ns = f(s)", limit=45),
    Construct("closure", "def f(x):\n    return v\nf(s)", limit=45),
    Construct("method", "s = o.get(s)", "o = MODEL", limit=25),
    Construct("bound method", "s = f(s)", "f = MODEL.get", limit=25),
    Construct("static method", "s = o.static(s)", "o = MODEL", limit=25),
    Construct("class method", "s = o.of_class(s)", "o = MODEL", limit=25),
    Construct("method by super()", "s = o.get(s)", "o = CHILD", limit=50),
    Construct("callable object", "s = o(s)", "o = MODEL", limit=20),
    Construct("partial", "s = PART(s)", limit=45),
    Construct("instance, no __init__", "Empty()", limit=60),
    Construct("instance, two attributes", "V(s, v)", limit=60),
    Construct("dataclass", "D(s, v)", limit=65),
    Construct("namedtuple", "P(s, v)", limit=22),
    Construct("_replace", "p = p._replace(y=v)", "p = P(s, 1.0)", limit=70),
    Construct("a + b of an own class", "o + p", "o = V(s, s)\np = V(s, s)", limit=60),
    Construct("-a of an own class", "-o", "o = V(s, s)", limit=60),
    Construct("a < b of an own class", "o < p", "o = V(s, s)\np = V(s, s)", limit=60),
    Construct("o[i] of an own class", "o[0]", "o = MODEL", limit=60),
    Construct("len(o) of an own class", "len(o)", "o = MODEL", limit=60),
    Construct("if o: of an own class", "if o:\n    pass", "o = MODEL", limit=60),
    Construct("for x in o, own class, two items", "for x in o:\n    pass", "o = MODEL"),
    Construct("property", "o.p", "o = MODEL", limit=28),
    Construct("attribute read", "o.x", "o = V(s, s)", limit=12),
    Construct("attribute write", "o.x = s", "o = V(s, s)", limit=30),
    Construct("dict read", 'd["x"]', 'd = {"x": s}', limit=7),
    Construct("dict write", 'd["x"] = s', 'd = {"x": s}', limit=22),
    Construct("dict display {**d}", "{**d}", 'd = {"x": s, "y": 1.0}'),
    Construct(
        "for k, x in d.items()", "for k, x in d.items():\n    pass", 'd = {"x": s, "y": 1.0}'
    ),
    Construct("list read", "l[0]", "l = [s]", limit=7),
    Construct("list write", "l[0] = s", "l = [s]", limit=22),
    Construct("append", "l.append(s)", "l = []", limit=22),
    Construct("pop", "l.pop()", "l = [s] * 300"),
    Construct("list comprehension, three items", "[x for x in l]", "l = [s, 1.0, 2.0]"),
    Construct("generator, three items", "for y in (x for x in l):\n    pass", "l = [s, 1.0, 2.0]"),
    Construct("x, y = t", "x, y = t", "t = (s, 1.0)"),
    Construct("zip, two items", "for x, y in zip(l, l):\n    pass", "l = [s, 1.0]"),
    Construct("enumerate, two items", "for i, x in enumerate(l):\n    pass", "l = [s, 1.0]"),
    Construct("isinstance", "isinstance(s, float)"),
    Construct("match", "match p:\n    case P(x, y):\n        pass", "p = P(s, 1.0)"),
    Construct("try", "try:\n    pass\nexcept ValueError:\n    pass"),
    Construct("with", "with o:\n    pass", "o = MODEL"),
]

# Whole loops: here the limit is the gradient over the plain loop.
STEP_OF_DICT = 'd["s"] = d["s"] * 0.5 + d["k"]\nd = {**d}'
LOOPS = [
    Construct("s = f(s)", "s = f(s)", "f = lambda x: x * 0.99 + 0.1", limit=13),
    Construct("s = o.step(s), appends", "s = o.step(s)", "o = M()", limit=24),
    Construct("p = p + q", "p = p + q", "p = Pair(s, s)\nq = Pair(0.1, s)", limit=13),
    Construct("d = {**d}", STEP_OF_DICT, 'd = {"s": s, "k": 0.1}', limit=18),
    Construct("p = p._replace(x=..)", "p = p._replace(x=p.x * 0.99)", "p = P(s, 1.0)", limit=6),
]
