"""Random statements whose arrays and numbers are complex, except a few and parts of them."""

from __future__ import annotations

import re
from random import Random

from tests.programs.random_masks import masked_text
from tests.programs.random_statements import HEAD, LOOP, SPLIT, TAIL, random_text

__all__ = ["complex_text"]

COMPLEX = {
    "w": "    w = w * (1.0 + 0.5j)\n",
    "x": "    x = x + 0.5j * y\n",
    "y": "    y = x * w\n",
    "m": "    m = m * (1.0 - 0.25j)\n    t = m.T\n",
    "z": "    z = z - 0.5j\n",
    "u": "    u = u + 0j\n",
    "v": "    v = v + 0j\n",
    "a": "    a = x[4]\n",
}
"""What makes names complex, in programs of which few leave a given one real."""
OF_SUM = ("    return s + ", "    s = s + "), "    return (s * (1.0 - 0.5j)).real\n"
BINARY = re.compile(
    r"\b(np\.(minimum|maximum|hypot|arctan2|logaddexp|copysign|fmax)|math\.(atan2|hypot))\b"
)
UNARY = re.compile(r"\b(np\.cbrt|math\.\w+|(?<!\.)int(?=\())")
FUNCTION = re.compile(r"\bnp\.(sin|tanh|arctan|negative)\b")
CONSTANT = re.compile(r"(?<![\w.])\d\.\d(?![\w.])")
OPERAND = re.compile(r"\b[xmzu](\[[^\[\]]*:[^\[\]]*\]|(?![\w\[.]))")
COMPARED = re.compile(r"\b([a-z](?:\[[^\[\]]*\])?) ([<>]=?) ")
IN_PLACE_OF_BINARY = ("np.add", "np.subtract", "np.multiply")
IN_PLACE_OF_UNARY = (
    "np.abs", "np.conj", "np.square", "np.exp", "np.sqrt", "np.reciprocal", "np.sign", "np.rint",
)  # fmt: skip
CONSTANTS = ("0.5j", "1j", "(0.5 - 0.25j)", "-2j")


def complex_text(seed: int, size: int = 6, odd: bool = False, tail: str = TAIL) -> str:
    """Return the text of a function like those of `random_text`, or of `masked_text`."""
    random = Random(f"complex {seed}")
    write = masked_text if seed % 3 == 0 else random_text
    text = write(seed, size, odd, tail.replace(*OF_SUM[0]) + OF_SUM[1] * (tail is TAIL))
    head, _, rest = text.partition(LOOP)
    made = "".join([
        line for name, line in COMPLEX.items() if random.random() < (0.3 if name == "a" else 0.96)
    ])  # fmt: skip
    lines = [
        changed(random, line) if line.startswith(" " * 8) else line
        for line in rest.splitlines(keepends=True)
    ]
    return head.replace(HEAD, HEAD + made) + LOOP + "".join(lines)


def changed(random: Random, line: str) -> str:
    """Return a statement in which some functions, numbers and operands are others."""

    def exchanged(pattern: re.Pattern[str], new: tuple[str, ...], share: float) -> None:
        nonlocal value
        value = pattern.sub(
            lambda found: random.choice(new) if random.random() < share else found[0], value
        )

    before, value = line, ""
    if SPLIT.search(line):
        target, operator, value = SPLIT.split(line, maxsplit=1)
        before = target + operator
    else:
        before, value = "", line
    exchanged(BINARY, IN_PLACE_OF_BINARY, 1.0)
    exchanged(UNARY, IN_PLACE_OF_UNARY[:2], 1.0)
    exchanged(FUNCTION, IN_PLACE_OF_UNARY, 0.3)
    exchanged(CONSTANT, CONSTANTS, 0.3)
    value = OPERAND.sub(
        lambda found: found[0] + random.choice((".real", ".imag")) * (random.random() < 0.2), value
    )
    return before + COMPARED.sub(
        lambda found: found.expand(r"np.abs(\1) \2 ") if random.random() < 0.5 else found[0], value
    )
