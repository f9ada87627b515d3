"""What objects in C refer to is read where a list or a tuple of theirs has empty places."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ET
from io import StringIO
from typing import Any

import pytest

from mooncake_py import value_and_grad
from mooncake_py.runtime.activity import parts
from mooncake_py.runtime.held_in_c import held_in_c
from mooncake_py.runtime.referents import reached_from


def builder() -> Any:
    """Return an object with a list for twenty elements, of which it has one."""
    made = ET.TreeBuilder()
    made.start("a", {})
    return made


def test_places_without_an_object_are_left_out() -> None:
    made = builder()
    assert not any(type(part) is list for part in held_in_c(made))
    parts(made)
    reached_from([made])
    pairs = itertools.zip_longest([1.0], iter([2.0, 3.0]))
    assert list(itertools.islice(pairs, 2)) == [(1.0, 2.0), (None, 3.0)]
    found = held_in_c(pairs)
    assert type(iter([])) in map(type, found)


def test_whole_lists_are_parts_themselves() -> None:
    items = [1.0, 2.0]
    assert any(part is items for part in held_in_c(iter(items)))


def element(x: Any) -> Any:
    return x * float(ET.fromstring("<a v='2.0'/>").attrib["v"])


def tree(x: Any) -> Any:
    return x * float(ET.parse(StringIO("<a v='2.0'/>")).getroot().attrib["v"])


def fed(x: Any) -> Any:
    parser = ET.XMLParser()
    parser.feed("<a v='2.0'/>")
    return x * float(parser.close().get("v"))


@pytest.mark.parametrize("f", [element, tree, fed])
@pytest.mark.parametrize("debug", [False, True])
def test_xml_is_parsed(f: Any, debug: bool) -> None:
    assert value_and_grad(f, debug=debug)(3.0) == (6.0, 2.0)
