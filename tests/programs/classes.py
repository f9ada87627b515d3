"""Statements with classes that have a ``__new__``, which may make something else."""

from __future__ import annotations

from tests.programs.writer import Writer

__all__ = ["STATEMENTS"]

# What stands for {n}: the name of the class; for {c}: a constant.  The object made by
# `{n}(array, number)` has a method `total()`.
TEMPLATES = (
    """\
class {n}:
    def __new__(cls, a, s):
        self = object.__new__({n}Sub if {test} else cls)
        self.made = s * {c}
        return self
    def __init__(self, a, s):
        self.a = a * s
    def total(self):
        return np.sum(self.a) * {c} + self.made
class {n}Sub({n}):
    def __init__(self, a, s):
        self.a = a * s * s
        self.s = s
    def total(self):
        return np.sum(self.a ** 2) + self.s * self.made""",
    """\
class {n}:
    def __new__(cls, a, s):
        if {test}:
            return {n}Other(a, s)
        return super().__new__(cls)
    def __init__(self, a, s):
        self.a, self.s = a, s
    def total(self):
        return np.sum(self.a * self.s)
class {n}Other:
    def __init__(self, a, s):
        self.a, self.s = np.sin(a), s * {c}
    def total(self):
        return np.sum(self.a) - self.s""",
    """\
class {n}(float):
    def __new__(cls, a, s):
        self = super().__new__(cls, {c})
        self.a = a
        self.s = s
        return self
    def total(self):
        return np.sum(self.a * self.s)""",
    """\
class {n}(tuple):
    __slots__ = ()
    def __new__(cls, a, s):
        return super().__new__(cls, (a * {c}, s))
    def total(self):
        return np.sum(self[0]) * self[1]""",
    """\
class {n}(list):
    def __new__(cls, a, s):
        self = super().__new__(cls)
        self.s = s
        return self
    def __init__(self, a, s):
        super().__init__([a, a * s])
    def total(self):
        return np.sum(self[0] * self[1]) + self.s""",
    """\
class {n}:
    kept = {{}}
    def __new__(cls, a, s):
        self = cls.kept.get('k')
        if self is None:
            self = cls.kept['k'] = super().__new__(cls)
        return self
    def __init__(self, a, s):
        self.a, self.s = a, s
    def total(self):
        self.kept.clear()
        return np.sum(self.a * {c}) + self.s ** 2""",
    """\
class {n}Meta(type):
    def __call__(cls, a, s):
        self = super().__call__(a, s)
        self.s = self.s * {c}
        return self
class {n}(metaclass={n}Meta):
    __slots__ = ('a', 's')
    def __new__(cls, *args, **kwargs):
        self = object.__new__(cls)
        self.a = args[0] + 0.1
        return self
    def __init__(self, a, s):
        self.s = s
    def total(self):
        return np.sum(self.a * self.a) * self.s""",
)
TESTS = ("True", "np.size(a) > 2", "s > 0.2", "isinstance(s, float)", "cls is not object")


def define_class(w: Writer) -> bool:
    """Define a class in the module and make an object of it."""
    if w.within != "f" or w.name("array") is None:
        return False
    name = f"New{len(w.prelude)}"
    text = w.rng.choice(TEMPLATES).format(n=name, c=w.constant(), test=w.pick(*TESTS))
    w.prelude.append(text)
    w.scope.add(name, "class", rebinds=False)
    return use_class(w)


def use_class(w: Writer) -> bool:
    """Make an object, perhaps change what it was made of, and use it."""
    known, array = w.name("class"), w.name("array")
    if known is None or array is None:
        return False
    obj, name = w.fresh("o"), w.fresh("s")
    w.write(f"{obj} = {known.text}({w.array_leaf(array.shape)}, {w.scalar(1)})")
    if w.chance(0.4):
        w.write(f"{array.text}[0] *= 0.6")
    w.write(w.pick(f"{name} = {obj}.total()", f"{name} = {obj}.total() * {w.scalar(1)}",
                   f"{name} = sum([{obj}.total(), isinstance({obj}, {known.text})])"))  # fmt: skip
    w.scope.add(name, "float")
    return True


STATEMENTS = {define_class: 2, use_class: 2}
