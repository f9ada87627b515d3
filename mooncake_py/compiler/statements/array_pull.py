"""Print the adjoints of statements on arrays: the reads of cotangents, and the additions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mooncake_py.compiler.printing.text import define
from mooncake_py.compiler.regions.ir import Call, Const, Expr, Let, Name, Op, parts_of, walk
from mooncake_py.compiler.regions.simplify import names_of
from mooncake_py.compiler.statements.array_adjoint import (
    Adjoint,
    Received,
    adjoint_of,
    is_masked_g,
    tests,
    unsigned,
)
from mooncake_py.compiler.statements.array_text import ArrayText, is_share
from mooncake_py.compiler.statements.kinds import ELEMENT, PART
from mooncake_py.compiler.statements.lines import function
from mooncake_py.compiler.statements.masks import kept
from mooncake_py.compiler.statements.matrix_sums import matrix_sum
from mooncake_py.compiler.statements.plan import Plan
from mooncake_py.compiler.statements.reductions import is_reduction
from mooncake_py.compiler.statements.views import through
from mooncake_py.rules.extrema import extremum_cotangent
from mooncake_py.rules.kinds import AtOnce

__all__ = ["PullWriter"]


DESCRIPTIONS = {"like": "like({})", "shape": "{}.shape"}
"""Expressions for the shape of an operand or a result, kept in its place."""
AGAIN = {"like": "{}", "shape": "{}.shape"}
"""The same where it is there itself."""


class PullWriter:
    """Prints the function ``pull(entry)`` of a form.

    Parameters
    ----------
    plan : Plan
    scope : dict
        Of the generated functions.

    Attributes
    ----------
    saved : list of str
        Operands, results and shares that the entry holds, and ``like_v0`` for the shape of one.
    masks : dict of str to list of Let
        What works out shares in the forward pass, by the operation that it comes before.
    text : str
    delivers : bool
        Whether there is anything to do in the reverse pass.
    """

    def __init__(self, plan: Plan, scope: dict[str, Any]) -> None:
        self.plan = plan
        self.scope = scope
        self.received = received = adjoint_of(plan)
        words = set(names_of([*(let.value for let in received.lets), *received.totals.values()]))
        names = [f"v{k}" for k in range(len(plan.layout))]
        names += [let.name for let in plan.core.lets]
        self.saved = [name for name in names if name in words]
        self.masks: dict[str, list[Let]] = {}
        self.together: dict[str, Any] = {}
        self.shares(words)
        self.told = {
            f"{kind}_{name}": text.format(name)
            for kind, text in DESCRIPTIONS.items()
            for name in names
            if f"{kind}_{name}" in words
        }
        self.saved += [name for name in self.told if described(name) not in self.saved]
        self.text = self.pull()

    def shares(self, words: set[str]) -> None:
        """Note which shares are worked out in the forward pass, and which of them together."""
        for let in self.plan.core.lets:
            partials = self.plan.masked.get(let.name)
            assert isinstance(let.value, Call) or partials is None
            if partials is None:
                continue
            wanted = [k for k in range(len(partials)) if f"w_{let.name}_{k}" in words]
            args = let.value.args  # type: ignore[union-attr]
            both = partials[0].both if type(partials[0]) is AtOnce else None
            if len(wanted) == 2 and both is not None:
                name = f"w_{let.name}"
                self.together[let.name] = name
                self.masks[let.name] = [Let(name, Call(kept, (Call(both, args),)))]
                self.saved.append(name)
                continue
            for k in wanted:
                value = Call(partials[k].partial, (*args, Const(None)))
                self.masks.setdefault(let.name, []).append(Let(f"w_{let.name}_{k}", value))
                self.saved.append(f"w_{let.name}_{k}")

    # The entry.

    def held(self) -> list[str]:
        """Return the names of nodes, numbers and indices that the adjoint needs."""
        plan = self.plan
        parts = [plan.layout[k] for k in sorted(plan.active)]
        if plan.target is not None:
            parts.insert(0, plan.target)
        names: list[str] = []
        for part in parts:
            if isinstance(part, tuple):
                names += [f"n{part[0]}", f"a{plan.index(part[1])}"]
            else:
                names.append(f"n{part}" if part in plan.on else f"a{part}")
        return list(dict.fromkeys(names))

    def fits(self) -> list[int]:
        """Return the active operands that are broadcast."""
        return [k for k in sorted(self.plan.active) if self.plan.kinds[k] is PART]

    @property
    def spread(self) -> list[str]:
        """The shape of what was summed, if there is such."""
        return ["shape"] if self.plan.core.sums else []

    def entry(self) -> list[str]:
        """Return the items of the entry, after the function that reverses it."""
        is_output = self.plan.target is None
        out = [] if not is_output else ["y" if self.plan.whole is None else "out"]
        values = [
            f"k{name[1:]}"
            if name[0] == "v" and self.plan.keeps(int(name[1:]))
            else self.told.get(name, name)
            for name in self.saved
        ]
        shapes = [f"v{k}.shape" for k in self.fits()]
        return ["pull", *out, *self.held(), *values, *shapes, *self.spread]

    def unpacked(self) -> str:
        """Return the line that names what the entry holds."""
        out = ["out"] if self.plan.target is None else []
        shapes = [f"shape{k}" for k in self.fits()]
        names = ["_", *out, *self.held(), *self.saved, *shapes, *self.spread]
        return f"{', '.join(names)}, = entry"

    @property
    def arrays(self) -> set[str]:
        """The names that are arrays of float64 in the function."""
        found = self.plan.arrays_of_float64
        return found and found | ({"g"} if self.plan.whole is not None else set())

    # The function.

    def pull(self) -> str:
        """Return the text of ``pull``, and put the careful one in the scope."""
        found = self.received
        slot = "slot, " if self.plan.target is not None else ""
        delivered = self.deliveries(found, self.together)
        self.delivers = bool(delivered)
        self.scope["careful"] = self.careful(slot)
        plan = self.plan
        text = ArrayText(self.scope, self.together, self.arrays, plan.axes, plan.int_names)
        lines = [self.unpacked(), *self.seed(found), *self.likes_again(), *self.apart(found)]
        lines += self.computed(found.lets, text)
        self.scope.update(text.scope)
        found_sound = tests(found, self.plan)
        if found_sound:
            test = " and ".join(found_sound)
            lines += [f"if not ({test}):", f"    return careful(entry, {slot}g)"]
        return function("pull", "entry", [*lines, *delivered])

    def careful(self, slot: str) -> Any:
        """Return the adjoint in which a zero cotangent stays zero, made when it first runs."""

        def careful(*args: Any) -> None:
            received = Adjoint(self.plan, careful=True).received()
            text = ArrayText(self.scope)
            lines = [self.unpacked(), *self.likes_again()]
            lines += [f"w_{name}_0, w_{name}_1 = shares({w})" for name, w in self.together.items()]
            lines += [*self.computed(received.lets, text), *self.deliveries(received, {})]
            made = function("careful_pull", f"entry, {slot}g", lines)
            define(made, text.scope)["careful_pull"](*args)

        return careful

    def likes_again(self) -> list[str]:
        """Return the lines for what tells the shape of what is there for itself."""
        again = [name for name in self.told if name not in self.saved]
        return [f"{name} = {AGAIN[how(name)].format(described(name))}" for name in again]

    def apart(self, received: Received) -> list[str]:
        """Return the lines that take apart what was kept together, where it stands alone."""
        if not self.together:
            return []
        products = [e for let in received.lets for e in products_with_shares(let.value)]
        products += [e for e in received.totals.values() if is_masked_g(e)]
        words = names_of([*(let.value for let in received.lets), *received.totals.values()])
        lines = []
        for w in self.together.values():
            shares = [f"{w}_0", f"{w}_1"]
            within = [e.args[1].name for e in products if e.args[1].name in shares]  # type: ignore[union-attr]
            if sum(map(words.count, shares)) > len(within):
                lines.append(f"{', '.join(shares)} = shares({w})")
        return lines

    def computed(self, lets: Iterable[Let], text: ArrayText) -> list[str]:
        """Return the lines of operations."""
        return [line for let in lets for line in text.lines(let)]

    # The cotangent that comes in.

    def seed(self, received: Received) -> list[str]:
        """Return the lines that find the cotangent of the value, or of the target afterwards."""
        plan = self.plan
        if plan.whole is None or plan.by_mask:
            return self.slot_seed()
        if plan.target is None:
            found = ["g = out.take()", "if g is None:", "    return"]
            if list(received.totals.values()).count(Name("g")) == 1:  # handed on, but maybe lent
                found.append("g = g if g.flags.writeable else g.copy()")
            return found
        o = plan.owner
        found = [f"d = n{o}.grad", "if d is None:", "    return"]
        part = plan.target
        found.append(f"slot = d[a{part[1]}]" if isinstance(part, tuple) else "slot = d")
        return [*found, "g = slot.copy()" if self.copies(received) else "g = slot"]

    def slot_seed(self) -> list[str]:
        """Return the lines that find the cotangent of a number, or of what a mask has picked."""
        if self.plan.target is None:
            return ["g = out.grad", "if not g:", "    return"]
        assert isinstance(self.plan.target, tuple)
        o, i = self.plan.target
        return [
            f"slot = n{o}.grad", "if slot is None:", "    return", f"g = slot[a{i}]",
            *([] if self.plan.by_mask else ["if not g:", "    return"]),
        ]  # fmt: skip

    def copies(self, received: Received) -> bool:
        """Return True if the target's cotangent g is added somewhere, and may have changed before.

        What g was fitted to may be a view of it.  ``x[i] += y`` and ``x[i] = x[i] + y`` leave g as
        it is, unless what is added to is the same memory: one addition is safe, as NumPy looks
        after operands that overlap, if it comes first.
        """
        if self.plan.whole is None or self.plan.by_mask:
            return False
        same = {"g"}  # what is g, or may be a view of it
        for let in received.lets:
            if is_view_of(let.value, same):
                same.add(let.name)
        totals, own = received.totals, 0 if self.plan.augments else self.plan.old
        others = [unsigned(e) for k, e in totals.items() if k != own]
        raw = [e for e in others if isinstance(e, Name) and e.name in same]
        if own is None or totals.get(own) != Name("g"):
            return bool(raw)
        return len(raw) > 1 or (len(others) > 1 and raw not in ([], [Name("g")]))

    # The additions to cotangents.

    def deliveries(self, received: Received, together: dict[str, Any]) -> list[str]:
        """Return the lines that add the cotangents; one shared by two operands is copied."""
        plan, totals = self.plan, received.totals
        text = ArrayText(self.scope, together)
        result: list[str] = []
        kept = plan.old
        if plan.target is not None:
            own = totals.get(0) if plan.augments else None
            if kept in totals:
                result += self.put_back(totals[kept])
            elif own is None:
                result.append(self.cleared())
            elif is_masked_g(own):
                result.append(self.masked_in_place(own, received, together))
            elif own != Name("g"):
                result.append(f"slot[...] = {text.text(own)}")
        active = sorted(plan.active - ({0} if plan.augments else {kept}))
        # The cotangent g before it may change, and negatives before what may be kept.
        active.sort(
            key=lambda k: (unsigned(totals[k]) != Name("g"), unsigned(totals[k]) == totals[k])
        )
        fresh = plan.target is None or plan.by_mask or self.copies(received)
        views = {Name(let.name) for let in received.lets if may_be_view(let.value)}
        if fresh:  # what they are views of changes when it is kept and added to
            active.sort(key=lambda k: unsigned(totals[k]) not in views)
        later = [unsigned(totals[k]) for k in active]
        for k in active:
            total = totals[k]
            last = later.pop(0) not in later  # what is kept changes where it is added to
            own = last and (total != Name("g") or fresh) and total not in views
            result += self.delivery(k, total, own)
        return result

    def delivery(self, k: int, total: Expr, owned: bool) -> list[str]:
        """Return the lines that add what an operand receives; if it is owned it may be kept."""
        plan = self.plan
        part = plan.layout[k]
        text = ArrayText(self.scope)
        amount = text.operand(unsigned(total))
        sign = "+" if unsigned(total) is total else "-"
        if isinstance(part, tuple):
            p, i = part[:2]
            if plan.is_gathered(part):
                ufunc = "add" if sign == "+" else "subtract"
                return [f"scatter({ufunc}, n{p}, a{plan.index(i)}, {amount})"]
            if plan.kinds[k] is ELEMENT:
                return [f"n{p}.shadow()[a{i}] {sign}= {amount}"]
            return [f"d = {through(part, f'n{p}.shadow()[a{i}]')}", f"d {sign}= {amount}"]
        if part not in plan.on:
            return [f"a{part}.grad {sign}= {amount}"]
        if plan.is_single:
            amount = f"single({amount})"
        if sign == "-":
            return [f"n{part}.add(-{amount})"]
        return [f"n{part}.{'add' if owned else 'add_shared'}({amount})"]

    def put_back(self, total: Expr) -> list[str]:
        """Return the line that puts what was read and then overwritten receives into its slot."""
        if total == Name("g"):  # it is there
            return []
        return [f"{self.slot} = {ArrayText(self.scope).text(total)}"]

    @property
    def slot(self) -> str:
        """The place of the cotangent of what is overwritten."""
        if self.plan.whole is None or self.plan.by_mask:
            assert isinstance(self.plan.target, tuple)
            return f"slot[a{self.plan.target[1]}]"
        return "slot[...]"

    def cleared(self) -> str:
        """Return the line that takes the cotangent of what is overwritten."""
        return "slot.fill(0.0)" if self.slot == "slot[...]" else f"{self.slot} = 0.0"

    def masked_in_place(self, own: Expr, received: Received, together: dict[str, Any]) -> str:
        """Return the line that multiplies the target's cotangent by a share."""
        assert isinstance(own, Op)
        share = own.args[1]
        assert isinstance(share, Name)
        name, _, k = share.name.rpartition("_")
        if name.removeprefix("w_") not in together:
            return f"multiply(g, {share.name}, out=slot)"
        other = Op("mul", (Name("g"), Name(f"{name}_{1 - int(k)}")))
        for let in received.lets:
            if let.value == other:
                return f"take_rest(g, {let.name}, {name}, {k}, slot)"
        return f"slot[...] = selected(g, {name}, {k})"


def is_fitted(e: Expr) -> bool:
    """Return True for a cotangent that was summed over broadcast axes."""
    return isinstance(e, Op) and e.op == "fitted"


def is_real_part(e: Expr) -> bool:
    """Return True for the real part of a cotangent."""
    return isinstance(e, Op) and e.op == "real"


def may_be_view(e: Expr) -> bool:
    """Return True for what may be memory of another cotangent: fitted, repeated, its real part."""
    return (
        is_fitted(e)
        or is_real_part(e)
        or (isinstance(e, Call) and is_reduction(e) and not is_new(e))
    )


def is_new(e: Call) -> bool:
    """Return True for the adjoint of a reduction whose result is new memory."""
    return e.function is extremum_cotangent or e.function is matrix_sum


def is_view_of(e: Expr, names: set[str]) -> bool:
    """Return True for what may be a view of one of some arrays."""
    if isinstance(e, Name):
        return e.name in names
    return may_be_view(e) and is_view_of(parts_of(e)[0], names)


def products_with_shares(e: Expr) -> list[Op]:
    """Return the products with shares in an expression."""
    return [
        part
        for part in walk(e)
        if isinstance(part, Op) and part.op == "mul" and is_share(part.args[1])
    ]


def how(name: str) -> str:
    """Return in which way a name tells of the shape of something."""
    return name.partition("_")[0]


def described(name: str) -> str:
    """Return of what a name tells the shape."""
    return name.partition("_")[2]
