"""Strings of values within a derivative: of containers that contain themselves."""

from __future__ import annotations

import sys
from collections import ChainMap, UserDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import checkpoint, grad, jvp, value_and_grad

OUTER: list[Any] = [2.0]
OUTER.append((OUTER,))


def in_itself(a: Any) -> Any:
    a.append(a)
    return a


def of_dict(x: Any) -> Any:
    d: dict[str, Any] = {"x": x}
    d["itself"] = [d, (d, x)]
    return d


LOOPED: dict[str, Callable[[Any], str]] = {
    "repr": lambda x: repr(in_itself([x, 1.0])),
    "str": lambda x: str(in_itself([1.0])),
    "ascii of a dict": lambda x: ascii(of_dict(x)),
    "format": lambda x: f"{of_dict(x)} {in_itself([x])!r}",
    "%": lambda x: "%s" % (of_dict(x),),  # noqa: UP031
    "method": lambda x: "{} {}".format(in_itself([x]), of_dict(x)),  # noqa: UP032
    "in a tuple": lambda x: str((in_itself([x]), x)),
    "in a deque": lambda x: str(in_itself(deque([x]))),
    "of a global": lambda x: f"{OUTER} {x}",
}


@pytest.mark.parametrize("name", LOOPED)
def test_a_container_that_contains_itself(name: str) -> None:
    def f(x: Any) -> Any:
        text = LOOPED[name](x[0])
        return x[0] * len(text), text

    x = np.array([0.5, 3.0])
    value, text = f(x)
    (got, said), g = value_and_grad(f, has_aux=True)(x)
    assert (got, said) == (value, text)
    assert g.tolist() == [len(text), 0.0]
    (_, (tangent, _)) = jvp(f, (x,), (np.ones(2),))
    assert tangent == len(text)


def test_a_list_in_itself_is_printed(capsys: Any) -> None:
    def f(x: Any) -> Any:
        print(in_itself([x[0]]), of_dict(x[1]))
        return x[0] * 1.0

    x = np.array([0.5, 3.0])
    f(x)
    plain = capsys.readouterr().out
    value_and_grad(f)(x)
    assert capsys.readouterr().out == plain


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (lambda: print("x", sep=3), "sep must be None or a string"),
        (lambda: print("x", end=3), "end must be None or a string"),
        (lambda: sys.stdout.write(3), "str"),  # type: ignore[arg-type]
    ],
)
def test_what_cannot_be_written_raises_in_checkpoints_too(write: Any, message: str) -> None:
    def f(x: Any) -> Any:
        write()
        return x

    for g in (f, lambda x: checkpoint(f, x)):
        with pytest.raises(TypeError, match=message):
            grad(g)(2.0)


def test_a_checkpointed_part_prints_once(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        print("a", "b", sep="-", end=";", flush=True)
        return x * sys.stdout.write("c")

    assert grad(lambda x: checkpoint(f, x))(2.0) == 1.0
    assert capsys.readouterr().out == "a-b;c"


class Twice(dict[str, Any]):
    def __getitem__(self, key: str) -> Any:
        return 2.0 * super().__getitem__(key)


class Default(dict[str, Any]):
    def __missing__(self, key: str) -> Any:
        return self["k"] + 1.0


MAPPINGS: dict[str, Any] = {
    "a method": lambda x: "%(k).2f %(k)s" % Twice(k=x),  # noqa: UP031
    "a default": lambda x: "%(k).3f %(other).3f" % Default(k=x),  # noqa: UP031
    "a default of its class": lambda x: "%(k).3f" % defaultdict(float, k=x),  # noqa: UP031
    "a mapping": lambda x: "%(k).3f%%" % UserDict(k=x),  # noqa: UP031
    "of mappings": lambda x: "%(k).3f" % ChainMap({}, {"k": x}),  # noqa: UP031
    "no names": lambda x: "%s" % Twice(k=1.0),  # noqa: UP031
}


@pytest.mark.parametrize("name", MAPPINGS)
def test_a_text_with_names_reads_a_mapping_by_its_method(name: str) -> None:
    def f(x: Any) -> Any:
        text = MAPPINGS[name](x)
        return x * len(text), text

    value, text = f(0.7)
    assert value_and_grad(f, has_aux=True)(0.7) == ((value, text), len(text))
    assert value_and_grad(f, has_aux=True, debug=True)(0.7) == ((value, text), len(text))


def test_a_name_that_a_mapping_has_not() -> None:
    with pytest.raises(KeyError, match="other"):
        value_and_grad(lambda x: len("%(other)s" % Twice(k=x)) * x)(0.7)  # noqa: UP031
