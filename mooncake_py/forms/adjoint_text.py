"""The text of generated adjoints, made quicker: no negations, inner products for sums."""

from __future__ import annotations

import re

__all__ = [
    "as_inner_product", "identifiers", "is_fitted_g", "is_masked_g", "not_surely_finite",
    "select_text", "with_mask_in_place", "without_implied", "without_signs",
]  # fmt: skip


def as_inner_product(line: str) -> str:
    """Return a line with the sum of one product written as an inner product."""
    target, _, text = line.partition(" = ")
    if text.startswith("summed(") and text.endswith(")"):
        left, star, right = text[7:-1].partition(" * ")
        if star and left.isidentifier() and not right.startswith("w"):
            return f"{target} = inner({left}, {right})"
    return line


def without_signs(lines: list[str], totals: dict[int, str]) -> tuple[list[str], dict[int, str]]:
    """Return the lines of an adjoint without negations, each of which costs a temporary array.

    What comes out with the other sign is ``-d1`` among the totals, and subtracted in the end.
    """
    signed: dict[str, str] = {}
    result: list[str] = []
    for line in lines:
        target, _, text = line.partition(" = ")
        if found := re.match(SUM, text):
            a, b = (signed.get(name, name) for name in found.groups())
            if a[0] == b[0] == "-":
                result.append(f"{target} = {a[1:]} + {b[1:]}")
                signed[target] = f"-{target}"
            else:
                first, second = (b, a) if a[0] == "-" else (a, b)
                sign = "-" if second[0] == "-" else "+"
                result.append(f"{target} = {first} {sign} {second.lstrip('-')}")
            continue
        found = re.match(LINEAR, text)
        if found is None or (signed and signed.keys() & identifiers(found["rest"])):
            # No name is bound anew: others may stand for what it holds.
            text = re.sub(NAME, lambda m: f"({signed[m[0]]})" if m[0] in signed else m[0], text)
            result.append(f"{target} = {text}")
            continue
        name = signed.get(found["name"], found["name"])
        minus = (found["sign"] == "-") != (name[0] == "-")
        name = name.lstrip("-")
        if found["head"] or found["rest"]:
            result.append(f"{target} = {found['head']}{name}{found['rest']}")
            name = target
        if minus or name != target:
            signed[target] = f"-{name}" if minus else name
    return result, {k: signed.get(total, total) for k, total in totals.items()}


# Texts, which `re` compiles when they are first used: at import it would take 0.4 ms.
NAME = r"[A-Za-z_]\w*"
SUM = r"(\w+) \+ (\w+)$"
FACTOR = r"[vtpq]\d+|w\d+_\d|inf|nan"  # the last: numbers that are written down
PRODUCT = r"(inner|reduced|left\d+|right\d+)\("
LINEAR = (
    r"(?P<head>(?:(?:inner|summed|reduced|fitted|left\d+|right\d+)\()?)(?P<sign>-?)(?P<name>[a-z]\w*)"
    r"(?P<rest>(?: [*/] .+|, .+|\))?)$"
)


def with_mask_in_place(
    lines: list[str], totals: dict[int, str]
) -> tuple[list[str], dict[int, str]]:
    """Return the lines without the product of g and a mask that is all that operand 0 receives.

    It is among the totals then, to be computed in place when all else is.
    """
    own = totals.get(0)
    for line in lines:
        target, _, text = line.partition(" = ")
        if target == own and is_masked_g(text):
            rest = [other for other in lines if other is not line]
            if own not in identifiers("\n".join([*rest, *(totals[k] for k in totals if k)])):
                return rest, {**totals, 0: text}
    return lines, totals


def is_masked_g(text: str) -> bool:
    """Tell whether a text is the product of g and a mask, which is finite if g is."""
    return re.fullmatch(r"g \* w\d+_\d", text) is not None


def select_text(line: str, k: int) -> str:
    """Return a line with products with the masks of a step written as calls."""
    return re.sub(rf"(\w+) \* w{k}_(\d)", rf"selected(\1, w{k}, \2)", line)


def is_fitted_g(name: str, lines: list[str]) -> bool:
    """Tell whether a name holds g, summed over broadcast axes: if there are none, g itself."""
    return any(line.startswith(f"{name} = fitted(g,") for line in lines)


def not_surely_finite(lines: list[str]) -> set[str]:
    """Return the names that hold a product with an array, or come from one.

    A finite cotangent times a finite number, or a sum of such, needs no check.
    """
    risky: set[str] = set()
    for line in lines:
        target, _, text = line.partition(" = ")
        names = identifiers(text)
        factors = any(re.fullmatch(FACTOR, name) for name in names)
        numbers = len(names) > 1 and all(name[0].isdigit() for name in names)  # may overflow
        if factors or numbers or "/" in text or risky.intersection(names):
            risky.add(target)
    return risky


def without_implied(checks: set[str], lines: list[str]) -> list[str]:
    """Return the names to be checked without those of which others are multiples or sums.

    A value that is not finite stays so in arithmetic, if nothing is left out, as BLAS may do
    with factors of zero.  Measured on Thomas's elimination of rows: a pass over memory in nine.
    """
    if len(checks) < 2:
        return list(checks)
    sources: dict[str, set[str]] = {}
    for line in lines:
        target, _, text = line.partition(" = ")
        names = set(identifiers(text)) if re.search(PRODUCT, text) is None else set()
        sources[target] = names.union(*(sources.get(name, ()) for name in names))
    return sorted(
        name
        for name in checks
        if not any(name in sources.get(other, ()) for other in checks - {name})
    )


WORD = re.compile(r"\w+")


def identifiers(text: str) -> list[str]:
    """Return the identifiers in a text, one for each use."""
    return WORD.findall(text)
