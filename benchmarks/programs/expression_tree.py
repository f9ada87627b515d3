"""Formulas read by a parser of one's own, evaluated as trees to fit data.

Style: a symbolic-regression tinkerer: tokenizer, recursive descent, node classes, visitors.
"""

import math
import operator
import re
from dataclasses import dataclass

from benchmarks.programs.program import Program

TOKEN = re.compile(r"\s*(?:(\d+\.?\d*)|([A-Za-z_]\w*)|(\*\*|[-+*/()?:<,]))")


class Node:
    """A node of the tree."""

    def size(self):
        """Count the nodes."""
        return 1 + sum(child.size() for child in self.children())

    def children(self):
        """Yield the nodes below."""
        for item in vars(self).values():
            items = item if isinstance(item, list) else [item]
            yield from (i for i in items if isinstance(i, Node))


@dataclass
class Number(Node):
    """A literal."""

    value: float

    def evaluate(self, env):
        """Return the number."""
        return self.value


@dataclass
class Name(Node):
    """A variable or a parameter."""

    name: str

    def evaluate(self, env):
        """Look the name up."""
        return env[self.name]


@dataclass
class Binary(Node):
    """An operator between two nodes."""

    symbol: str
    left: Node
    right: Node

    operators = {
        "+": operator.add,
        "-": operator.sub,
        "*": operator.mul,
        "/": operator.truediv,
        "**": operator.pow,
        "<": operator.lt,
    }

    def evaluate(self, env):
        """Apply the operator."""
        return self.operators[self.symbol](self.left.evaluate(env), self.right.evaluate(env))


@dataclass
class Call(Node):
    """A function of one or two nodes."""

    name: str
    arguments: list

    functions = {
        name: getattr(math, name) for name in ("exp", "log", "sin", "tanh", "sqrt", "hypot")
    }

    def evaluate(self, env):
        """Call the function."""
        return self.functions[self.name](*(a.evaluate(env) for a in self.arguments))


@dataclass
class Choice(Node):
    """A conditional expression."""

    condition: Node
    yes: Node
    no: Node

    def evaluate(self, env):
        """Evaluate only the branch that is chosen."""
        return (self.yes if self.condition.evaluate(env) else self.no).evaluate(env)


class Parser:
    """Recursive descent: choice, comparison, sum, product, sign, power, atom."""

    def __init__(self, text):
        self.tokens = [next(filter(None, groups)) for groups in TOKEN.findall(text)]
        self.position = 0

    @property
    def peek(self):
        """The next token, None at the end."""
        return self.tokens[self.position] if self.position < len(self.tokens) else None

    def take(self, expected=None):
        """Return the next token and move on."""
        token = self.peek
        if token is None or (expected and token != expected):
            raise SyntaxError(f"expected {expected}, found {token}")
        self.position += 1
        return token

    def choice(self):
        """Parse `a < b ? c : d` or a sum."""
        node = self.chain(self.product, ("+", "-"))
        if self.peek == "<":
            self.take()
            node = Binary("<", node, self.chain(self.product, ("+", "-")))
        if self.peek == "?":
            self.take()
            yes = self.choice()
            self.take(":")
            node = Choice(node, yes, self.choice())
        return node

    def chain(self, part, symbols):
        """Parse operators that associate to the left."""
        node = part()
        while self.peek in symbols:
            node = Binary(self.take(), node, part())
        return node

    def product(self):
        """Parse products and quotients."""
        return self.chain(self.power, ("*", "/"))

    def power(self):
        """Parse a sign and a power."""
        if self.peek == "-":
            self.take()
            return Binary("-", Number(0.0), self.power())
        base = self.atom()
        if self.peek == "**":
            self.take()
            return Binary("**", base, self.power())
        return base

    def atom(self):
        """Parse a number, a name, a call or parentheses."""
        token = self.take()
        if token == "(":
            node = self.choice()
            self.take(")")
            return node
        if token[0].isdigit():
            return Number(float(token))
        if self.peek != "(":
            return Name(token)
        arguments = []
        while self.take() != ")":
            arguments.append(self.choice())
        return Call(token, arguments)


def score(formulas, parameters, rows):
    """Sum over the formulas of errors, each with a charge for its size."""
    total = 0.0
    for formula, target in formulas:
        tree = Parser(formula).choice()
        error = sum((tree.evaluate({**parameters, **row}) - row[target]) ** 2 for row in rows)
        total += math.log(1e-3 + error / len(rows)) + 0.01 * tree.size()
    return total


def arguments():
    """Return formulas, parameters and a table."""
    formulas = [
        ("a * exp(-b * x) + c * sin(2 * x + d)", "u"),
        ("x < 1.5 ? a * x ** 2 : a * 2.25 + log(1 + b * (x - 1.5)) / (c + y ** 2)", "v"),
        ("hypot(a * x, b * y) - tanh(c * x * y) / sqrt(1 + d ** 2 * x ** 2)", "u"),
    ]
    parameters = {"a": 1.2, "b": 0.7, "c": 0.5, "d": 0.3}
    rows = []
    for n in range(900):
        x, y = 0.0033 * n + 0.01, math.cos(0.37 * n)
        rows.append({"x": x, "y": y, "u": math.exp(-x) + 0.4 * math.sin(2 * x), "v": x + 0.2 * y})
    return formulas, parameters, rows


PROGRAM = Program(run=score, arguments=arguments, argnums=(1,), group="objects")
