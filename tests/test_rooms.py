"""Imports go one way: each room of the engine imports only what stands below it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import mooncake_py
from mooncake_py.rooms import ENGINE, ROOMS, is_engine

PACKAGE = Path(mooncake_py.__file__).parent
BELOW = ("", "tangents", "rules")  # "" for the modules of BASE
BASE = {
    "by_identity", "checkpointing", "errors", "jitted", "modules", "notebook", "optional",
    "overriding", "remembered", "rooms", "words",
}  # fmt: skip
ABOVE = "interface"
ORDER = (*BELOW, *ROOMS, ABOVE)

# Within two rooms, from the lowest folder to the highest; "" for the files above all of them.
WITHIN = {
    "compiler": (
        "regions", "derivatives", "printing", "sites", "statements", "native", "",
    ),
    "compiler.native": (
        "regions", "nodes", "building", "functions", "reading", "lowering", "sweeps", "llvm",
        "machine", "numpy_text", "",
    ),
}  # fmt: skip

# Within a function, for what few programs need: what is taken, by whom.
LATER = {
    ("application.own_pullbacks", "utilities.effects"),
    ("modes.reverse.reverse_pass", "utilities.effects"),
    ("language.checkpoints", "recomputation.loop"),
    ("language.stored_files", "utilities.saving"),
    ("language.weak_references", "recomputation.replay"),
    ("compiler.native.nodes.derivatives", "interface"),
    ("modes.reverse.derived_rule", "modes.debug.coduals"),
    ("modes.reverse.settings", "modes.debug.context"),
    ("modes.reverse.differentiate", "nesting.inside"),
    ("modes.reverse.pullback", "nesting.inside"),
    ("modes.forward.call", "nesting.inside"),
    ("modes.forward.gradient", "nesting.inside"),
}


def modules() -> dict[str, Path]:
    """Return the modules of the package, by their names without that of the package."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


@cache
def tree_of(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


def room_of(module: str) -> str:
    """Return the place of a module in the order."""
    rooms = (room for room in (*BELOW[1:], *ROOMS) if f"{module}.".startswith(f"{room}."))
    return next(rooms, "" if module in BASE else ABOVE)


def imports(module: str) -> Iterator[tuple[str, bool]]:
    """Yield the modules of the package that a module imports, and whether within a function."""
    return imported(tree_of(module), later=False)


def imported(node: ast.AST, *, later: bool) -> Iterator[tuple[str, bool]]:
    """Yield the modules of the package that statements within one import."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ImportFrom) and (child.module or "").startswith("mooncake_py."):
            source = (child.module or "").removeprefix("mooncake_py.")
            for alias in child.names:
                whole = f"{source}.{alias.name}"
                yield (whole if whole in MODULES else source), later
        elif isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            yield from imported(child, later=later or is_function)


def test_each_room_imports_what_stands_below_it() -> None:
    upward = set()
    for module in MODULES:
        if module == "" or module.endswith("__main__"):
            continue
        place = ORDER.index(room_of(module))
        upward |= {
            (module, source, later)
            for source, later in imports(module)
            if ORDER.index(room_of(source)) > place
        }
    assert {(module, source) for module, source, later in upward if not later} == set()
    assert {(module, source) for module, source, later in upward if later} == LATER


@pytest.mark.parametrize("room", WITHIN)
def test_folders_within_a_room_go_one_way_too(room: str) -> None:
    folders = PACKAGE.joinpath(*room.split("."))

    def place(module: str) -> int:
        first = module.removeprefix(f"{room}.").partition(".")[0]
        return WITHIN[room].index(first if (folders / first).is_dir() else "")

    upward = {
        (module, source)
        for module in MODULES
        if module.startswith(f"{room}.")
        for source, _ in imports(module)
        if source.startswith(f"{room}.") and place(source) > place(module)
    }
    assert upward == set()


def test_all_folders_have_their_place() -> None:
    folders = {path.parent.relative_to(PACKAGE).parts[0] for path in PACKAGE.rglob("*/*.py")}
    above = {"integrations", "reflection", "solvers", "sparse", "testing", "utilities"}
    assert folders == {room.partition(".")[0] for room in ROOMS} | {"rules", "tangents"} | above


PUBLIC = ("rules", "tangents", "solvers", "interface", "errors", "optional", "words")
"""What an integration may import: no part of the engine."""
OF_THE_ENGINE = {
    "integrations.mpi4py": "communication has a place in the tape of each mode",
    "integrations.scipy.solvers": "callbacks run in the mode that calls the solver",
}


def test_integrations_import_what_any_package_may() -> None:
    inward = {
        (module, source)
        for module in MODULES
        if module.startswith("integrations.")
        for source, _ in imports(module)
        if not source.startswith(("integrations", *PUBLIC))
        and not module.startswith(tuple(OF_THE_ENGINE))
    }
    assert inward == set()


def test_nothing_imports_an_integration() -> None:
    inward = {
        (module, source)
        for module in MODULES
        if not module.startswith("integrations")
        for source, _ in imports(module)
        if source.startswith("integrations")
    }
    assert inward == {("first_order", "integrations.mpi4py.gradients")}  # for `comm=`


def test_files_of_the_engine() -> None:
    assert is_engine(str(PACKAGE / "modes" / "reverse" / "tape.py"))
    assert not is_engine(str(PACKAGE / "rules" / "linalg.py"))
    assert not is_engine(__file__)
    assert all(Path(folder).is_dir() for folder in ENGINE)


def test_no_file_is_long() -> None:
    lines = {path: path.read_text(encoding="utf-8").count("\n") for path in MODULES.values()}
    assert {path: count for path, count in lines.items() if count > 500} == {}


def test_tests_mirror_the_rooms() -> None:
    tests = Path(__file__).parent
    tested = {path.parent.relative_to(tests).parts[0] for path in tests.rglob("*/test_*.py")}
    assert {room.partition(".")[0] for room in ROOMS} <= tested
    of_compiler = {path.parent.name for path in tests.glob("compiler/*/test_*.py")}
    assert {folder for folder in WITHIN["compiler"] if folder not in ("", "native")} <= of_compiler


def test_the_picture_shows_every_room_in_its_place() -> None:
    page = Path(__file__).parents[1] / "docs" / "explanation" / "architecture.md"
    text = page.read_text(encoding="utf-8")
    places = [text.index(f" {room.replace('.', '/')}/ ") for room in ROOMS]
    assert places == sorted(places, reverse=True)
    described = [text.index(f"**`{room.replace('.', '/')}/`**") for room in ROOMS]
    assert all(place > max(places) for place in described)


def test_no_parameter_for_a_mode_is_of_any_type() -> None:
    """Take a protocol of `runtime.mode`: type checkers then see what is asked of a mode."""
    found = [
        module
        for module in MODULES
        for node in ast.walk(tree_of(module))
        if isinstance(node, ast.FunctionDef)
        for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        if a.arg in ("ctx", "context", "outer")
        and (a.annotation is None or ast.unparse(a.annotation) in ("Any", "object"))
    ]  # fmt: skip
    assert found == []
