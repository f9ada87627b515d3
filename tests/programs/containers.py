"""Statements with lists, dicts, tuples and objects that hold arrays and numbers."""

from __future__ import annotations

from tests.programs.writer import Writer

__all__ = ["STATEMENTS"]


def new_list(w: Writer) -> bool:
    """Bind a list of arrays; some are views, some are there twice."""
    array = w.name("array")
    if array is None:
        return False
    name, shape = w.fresh("l"), array.shape
    first, second = w.array_leaf(shape), w.array(shape, 1)
    if w.chance(0.2):
        w.write(f"{name} = [{first} * k for k in range(1, 3)]")
    else:
        w.write(f"{name} = [{first}, {second}, {array.text}][:{w.pick('2', '3', '3')}]")
    w.scope.add(name, "list", shape)
    for i in (0, 1):
        w.scope.add(f"{name}[{i}]", "array", shape, rebinds=True)
    return True


def change_list(w: Writer) -> bool:
    """Change a list of arrays; at least two arrays remain."""
    items = w.name("list")
    if items is None:
        return False
    t, shape = items.text, items.shape
    element = w.fresh("m")
    w.write(
        w.pick(
            f"{t}.append({w.array(shape, 1)})",
            f"{t}.insert(0, {w.array_leaf(shape)})",
            f"{t}.reverse()",
            f"{t}[0], {t}[-1] = {t}[-1], {t}[0]",
            f"{t} += [{w.array_leaf(shape)}]" if items.rebinds else "pass",
            f"{t}.extend([{t}[0], {t}[1] * 0.5])",
            f"{t}.append({t}.pop(0))",
            f"{t}[1] = {t}[0]",
            f"{t}[:] = [{element} * 0.9 for {element} in {t}]",
            f"{t}[-1] *= {w.scalar(1)}",
            f"{t}[0] -= {w.array(shape, 1)}",
            f"{t}[:2] = {t}[1], {t}[0]",
            f"{t}.append({t}[0][...])",
            f"{t}.insert(1, {t}[0]); del {t}[0]",
        )
    )
    return True


def sweep_list(w: Writer) -> bool:
    """Loop over a list of arrays and change each."""
    items = w.name("list")
    if items is None:
        return False
    element, counter = w.fresh("m"), w.fresh("k")
    t = items.text
    with w.block(
        w.pick(
            f"for {element} in {t}:",
            f"for {counter}, {element} in enumerate({t}):",
            f"for {element}, _ in zip({t}, {t}[1:]):",
            f"for {element} in reversed({t}):",
        )
    ):
        w.write(w.pick(f"{element} *= {w.scalar(1)}", f"{element} += {w.array(items.shape, 1)}",
                       f"{element}[0] = {w.scalar(1)}", f"{element}[1:] += {element}[:-1]",
                       f"np.sin({element}, out={element})"))  # fmt: skip
    return True


def new_numbers(w: Writer) -> None:
    """Bind a list of numbers."""
    name = w.fresh("n")
    w.write(f"{name} = [{w.scalar(1)}, {w.scalar(1)}, {w.constant()}]")
    w.scope.add(name, "numbers")


def change_numbers(w: Writer) -> bool:
    """Change a list of numbers; at least two remain."""
    numbers = w.name("numbers")
    if numbers is None:
        return False
    t, s = numbers.text, w.scalar(1)
    w.write(w.pick(
        f"{t}[0] += {s}", f"{t}[-1] *= {s}", f"{t}.append({s})", f"{t}.insert(1, {s})",
        f"{t}[1] = {t}[0] * {s}", f"{t}.reverse()", f"{t}.sort()", f"{t}.append({t}.pop(0))",
        f"{t}[:2] = [{s}, {t}[0]]", f"{t}.extend([v * v for v in {t}[:2]])",
        f"{t}[:] = sorted({t}, key=lambda v: -v)", f"{t} *= 2" if numbers.rebinds else "pass",
        f"{t}[0], {t}[1] = {t}[1], {t}[0] + {t}[1]",
    ))  # fmt: skip
    return True


def use_numbers(w: Writer) -> bool:
    """Bind a number computed from a list of numbers."""
    numbers = w.name("numbers")
    if numbers is None:
        return False
    name, t = w.fresh("s"), numbers.text
    w.write(w.pick(f"{name} = sum({t})", f"{name} = max({t})", f"{name} = np.sum({t})",
                   f"{name} = sum(v * w for v, w in zip({t}, {t}[1:]))",
                   f"{name} = np.array({t}[:2]) @ np.array({t}[-2:])",
                   f"{name} = sum(map(math.sin, {t}))", f"{name} = math.prod({t}[:2])",
                   f"{name} = float(np.mean(np.asarray({t})))",
                   f"{name} = {{k: v for k, v in enumerate({t})}}[1]"))  # fmt: skip
    w.scope.add(name, "float")
    return True


def new_dict(w: Writer) -> bool:
    """Bind a dict that holds an array and a number, which are names of their own from then on."""
    array = w.name("array")
    if array is None:
        return False
    name = w.fresh("d")
    value = w.pick(array.text, f"{array.text}.copy()", f"{array.text} * 0.7")
    w.write(w.pick(f"{name} = {{'a': {value}, 's': {w.scalar(1)}}}",
                   f"{name} = dict(a={value}, s={w.scalar(1)})"))  # fmt: skip
    w.scope.add(name, "dict", array.shape)
    w.scope.add(f"{name}['a']", "array", array.shape)
    w.scope.add(f"{name}['s']", "float")
    return True


def change_dict(w: Writer) -> bool:
    """Change a dict."""
    items = w.name("dict")
    if items is None:
        return False
    t = items.text
    key = w.fresh("key")
    w.write(
        w.pick(
            f"{t}.update(s={t}['s'] * {w.scalar(1)})",
            f"{t}['a'] = {t}['a'] * 0.8",
            f"{t}['new'] = {t}.pop('s'); {t}['s'] = {t}['new'] * 0.9",
            f"{t}.setdefault('z', {w.array(items.shape, 1)})[...] *= {w.scalar(1)}",
            f"for {key} in {t}: {t}[{key}] = {t}[{key}] * 0.95",
            f"{t}['a'], {t}['s'] = {t}['a'] * {t}['s'], {t}['s'] + 0.1",
            f"{t} |= {{'s': {w.scalar(1)}}}" if items.rebinds else "pass",
            f"for {key} in {t}.values(): {key} *= 0.9",
            f"{t}.get('a')[...] += {t}.get('q', 0.2)",
            f"del {t}['s']; {t}['s'] = {w.scalar(1)}",
        )
    )
    return True


def use_tuple(w: Writer) -> bool:
    """Put an array and a number into a tuple and change the array through it."""
    array = w.name("array")
    if array is None:
        return False
    name = w.fresh("t")
    w.write(f"{name} = ({array.text}, {w.scalar(1)})", f"{name}[0][...] *= {name}[1]")
    w.scope.add(f"{name}[0]", "array", array.shape, rebinds=False)
    w.scope.add(f"{name}[1]", "float", rebinds=False)
    return True


BOX = """class Box:
    total = 0.1

    def __init__(self, a, s):
        self.a = a
        self.s = s

    def scale(self, c):
        self.a *= c
        self.s = self.s + c * 0.1
        return self

    @property
    def head(self):
        return self.a[:2]

    @head.setter
    def head(self, value):
        self.a[:2] = value

    def __getitem__(self, i):
        return self.a[i] * self.s

    def __setitem__(self, i, v):
        self.a[i] = v
        self.s = self.s * 0.9

    def __iadd__(self, other):
        self.a += other
        return self

    def __call__(self, c):
        self.total = self.total + c
        return self.total * self.s"""


def new_object(w: Writer) -> bool:
    """Bind an instance that holds an array and a number."""
    array = w.name("array")
    if array is None:
        return False
    if BOX not in w.prelude:
        w.prelude.append(BOX)
    name = w.fresh("box")
    value = w.pick(array.text, f"{array.text} * 0.7")
    w.write(f"{name} = Box({value}, {w.scalar(1)})")
    w.scope.add(name, "object", array.shape)
    w.scope.add(f"{name}.a", "array", array.shape)
    w.scope.add(f"{name}.s", "float")
    return True


def change_object(w: Writer) -> bool:
    """Change an instance."""
    box = w.name("object")
    if box is None:
        return False
    t, s = box.text, w.scalar(1)
    w.write(w.pick(
        f"{t}.scale({s})", f"{t}.head = {s}", f"{t}.head *= {s}", f"{t}[0] = {t}[1] * 0.5",
        f"{t} += {s}" if box.rebinds else "pass", f"{t}.s = {t}({s})", f"{t}[1] += {s}",
        f"{t}.scale(0.5).scale({s})", f"setattr({t}, 's', {s})",
        f"{t}.__dict__['s'] = {s}", f"{t}.total += {s}; {t}.s += {t}.total",
    ))  # fmt: skip
    return True


STATEMENTS = {
    new_list: 3, change_list: 5, sweep_list: 3, new_numbers: 2, change_numbers: 4, use_numbers: 2,
    new_dict: 2, change_dict: 4, use_tuple: 1, new_object: 2, change_object: 4,
}  # fmt: skip
