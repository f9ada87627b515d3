"""Facts found while a function is read, which require that it is read again."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, TypeVar

from mooncake_py.compiler.native.building.values import Unfit
from mooncake_py.syntax.nodes import Place

__all__ = ["Again", "Findings", "TooMuch", "reread"]

T = TypeVar("T")
ATTEMPTS = 60
MOST = 7000  # statements that are read in all attempts: about three seconds
FORGOTTEN = (
    "has_lists", "pinned", "lengths", "same", "dropped", "unrolled", "mixed", "rows", "rowless",
    "homes", "mixed_rows", "chosen", "stacked_in", "periods", "peeled",
)  # fmt: skip
"""What a reading no longer finds out after something that it has found too late."""


class TooMuch(Unfit):
    """Raised for code that takes too long to read or to compile; a part of it may not."""


class Again(Exception):
    """Something was found out late: the function must be read again."""


class Findings:
    """Facts found while a function is read, which are known when it is read again.

    Parameters
    ----------
    itemizes : bool
        Whether captured lists of floats are read item by item.
    most : int, optional
        The number of statements that may be read.

    Attributes
    ----------
    statements : int
        The number of statements read so far, those of a function once for each call.
    has_lists : bool
        Whether any were read as lists of any length.
    varied : set of str
        Variables of numbers whose type is known only when it runs.
    widened : set of str
        Those that are an int in one place and a float in another.
    pinned : set of Path
        The ints of arguments that must be known.
    lengths : set of (Path, int)
        The lengths of arguments that must be known: arrays or lists, and axes.
    reused : set of str
        Arguments that are arrays or lists, the names of which are bound to numbers.
    narrow : set of str
        Those that are a float32 in one place and a float or an int in another.
    carried : set of str
        Variables of arrays that a loop binds again in each pass.
    named_twice : set of str
        Those whose arrays have other names, which would not see a write.
    same : set of frozenset of str
        Pairs of those that may stand for one array when a pass of a loop begins.
    dropped : set of (Place or None, str)
        Loops, and slots of which a pass does not tell what they stand for in the next one.
    unpacked : set of str
        Variables of tuples that a loop or a branch binds again.
    chosen : dict of str to tuple of Head
        What slots may be that loops bind to several things.
    left_over : set of str
        Those of them that only loops bind, and that are read afterwards.
    choosing : set of Place or None
        Expressions of which the sides give other things than numbers.
    growing : dict of (Place or None) to str
        Where lists are made that grow, or whose items are written or known only when it runs; and
        the type of the first number that is appended.
    changed : dict of (Place, str or None) to (tuple or None)
        Where lists and dicts are made that change; what those are called that are passed, and where
        they are.
    grown : dict of str to str
        The inputs that are lists which grow, and the type of the first number that is appended.
    mixed : set of str
        The memory of lists that hold floats of Python and of NumPy.
    unrolled : set of Place or None
        Loops over a range whose counter tells an item of a tuple, or in which an array may get
        another shape.
    stacked : dict of (Place or None) to tuple
        Where lists are made to which loops append arrays or tuples, and what these are like.
    peeled : dict of (Place or None) to int
        Loops of which so many passes come first, in which dicts get keys or deques items.
    turned : set of Place or None
        Those of them to which loops append at the beginning.
    listed : set of str
        Slots whose arrays loops append to lists; with a dot after their names objects that they do.
    run : set of Place or None
        Comprehensions that run as loops which append to a list.
    compressed : set of Place or None
        Where elements that a mask picks meet other operands: there they are an array.
    written : set of Place or None
        Statements of which one part, a call, may write what other parts read.
    outlasting : set of str
        Variables that are read after the loop that binds them.
    lasting : set of str
        Variables of arrays that are.
    counters : set of str or (Place or None, str)
        Attributes of objects that are made within, ints, which are bound again: the statement that
        binds one, and its name.  What objects are called changes with what is found.
    defaulted : set of (type, str)
        Attributes that such objects bind, and of which their class has a value besides.
    class_attributes : dict of (type, str) to bool
        The attributes of classes that are assigned, and whether a branch or a loop does it.
    names : dict of tuple to str
        What begins the names of variables, by where a function is called, and the names of objects,
        lists and dicts, by where they are made.
    rows, rowless : set of Place
        Loops over known items that stay loops, and those that cannot.
    homes : dict of (Place, tuple) to None
        Of such loops the attributes that they assign: how to find them in an item.
    periods : dict of Place to int
        Of such loops how many items of different kinds follow one another, again and again.
    tables, tableless : set of Place
        Comprehensions that made lists of lists in one vector, and those that cannot.
    stacked_in : dict of Place to Place
        Such loops that append other than numbers to lists, and where these are made.
    mixed_rows : set of (Place, str)
        The attributes that hold floats of Python and of NumPy then.
    unread_solvers : set of Place or None
        Calls of solvers whose steps are not read with the functions that they call.
    assigned : dict of str to (tuple, Slot)
        Attributes that are assigned: where the object is, and the slot.
    kept : dict of str to object or None
        What was known when something was found that does not end this reading; see `later`.
    """

    kept: dict[str, Any] | None = None

    def __init__(self, itemizes: bool = False, most: int | None = None) -> None:
        self.itemizes = itemizes
        self.most = MOST if most is None else most
        self.statements = 0
        self.has_lists = False
        self.varied: set[str] = set()
        self.widened: set[str] = set()
        self.narrow: set[str] = set()
        self.reused: set[str] = set()
        self.pinned: set[tuple[Any, ...]] = set()
        self.lengths: set[tuple[tuple[Any, ...], int]] = set()
        self.carried: set[str] = set()
        self.named_twice: set[str] = set()
        self.same: set[frozenset[str]] = set()
        self.dropped: set[tuple[Place | None, str]] = set()
        self.unpacked: set[str] = set()
        self.chosen: dict[str, tuple[Any, ...]] = {}
        self.left_over: set[str] = set()
        self.choosing: set[Place | None] = set()
        self.growing: dict[Place | None, str] = {}
        self.changed: dict[Place | str | None, tuple[Any, ...] | None] = {}
        self.grown: dict[str, str] = {}
        self.mixed: set[str] = set()
        self.unrolled: set[Place | None] = set()
        self.stacked: dict[Place | None, tuple[Any, ...]] = {}
        self.peeled: dict[Place | None, int] = {}
        self.turned: set[Place | None] = set()
        self.listed: set[str] = set()
        self.run: set[Place | None] = set()
        self.compressed: set[Place | None] = set()
        self.written: set[Place | None] = set()
        self.outlasting: set[str] = set()
        self.lasting: set[str] = set()
        self.counters: set[str | tuple[Place | None, str]] = set()
        self.defaulted: set[tuple[type, str]] = set()
        self.class_attributes: dict[tuple[type, str], bool] = {}
        self.names: dict[tuple[Any, ...], str] = {}
        self.rows: set[Place] = set()
        self.rowless: set[Place] = set()
        self.homes: dict[tuple[Place, tuple[int | str, ...]], None] = {}
        self.periods: dict[Place, int] = {}
        self.tables: set[Place] = set()
        self.tableless: set[Place] = set()
        self.stacked_in: dict[Place, Place] = {}
        self.mixed_rows: set[tuple[Place, str]] = set()
        self.unread_solvers: set[Place | None] = set()
        self.assigned: dict[str, tuple[tuple[int | str, ...], Any]] = {}

    @property
    def is_late(self) -> bool:
        """Whether the function will be read again, whatever this reading comes to."""
        return self.kept is not None

    def later(self) -> None:
        """Have the function read again, after this reading has gone on for what it still finds.

        What it finds about numbers that decide structure is forgotten: it may follow from what this
        reading has mistaken.
        """
        if self.kept is None:
            own = vars(self).items()
            self.kept = {name: copy.copy(v) for name, v in own if name in FORGOTTEN}

    def again(self) -> None:
        """Begin another reading."""
        if self.kept is not None:
            vars(self).update(self.kept)
            self.kept = None

    def unroll(self, place: Place | None) -> None:
        """Have a loop read pass by pass: ints that it binds again may be bound once each then."""
        self.unrolled.add(place)
        if not self.is_late:  # else it is forgotten
            self.counters.clear()

    def gives_rows_up(self, error: Unfit) -> bool:
        """Have loops over objects read pass by pass, as more is known then; False if none is left.

        Before these tables row by row.  First those that append to lists: what they hold is known
        one by one then.
        """
        if isinstance(error, TooMuch):
            return False
        if not self.tables <= self.tableless:
            self.tableless |= self.tables
            return True
        given_up = self.rows.intersection(self.stacked_in) or self.rows
        if not given_up:
            return False
        for place in given_up & self.stacked_in.keys():
            self.stacked.pop(self.stacked_in.pop(place), None)
        self.rowless |= given_up
        self.rows -= given_up
        return True

    def count_statement(self, place: Place) -> None:
        """Count a statement that is read.

        Raises
        ------
        TooMuch
        """
        self.statements += 1
        if self.statements > self.most:
            raise TooMuch(
                f"a function that takes too long to read: more than {self.most} statements, those "
                "of functions counted at each call; call them in loops over arrays and ranges",
                place,
            )


def reread(read: Callable[[Findings], T], most: int | None = None) -> T:
    """Return a reading of at most so many statements, repeated until nothing is found too late.

    Raises
    ------
    Unfit
        What cannot be compiled, and where.
    """
    findings = Findings(most=most)
    for _ in range(ATTEMPTS):
        try:
            found = read(findings)
        except Again:
            pass
        except Exception as error:
            if not findings.is_late:
                if isinstance(error, Unfit) and findings.gives_rows_up(error):
                    continue
                if not (isinstance(error, Unfit) and findings.has_lists):
                    raise
                count, findings = findings.statements, Findings(itemizes=True, most=most)
                findings.statements = count
        else:
            if not findings.is_late:
                return found
        findings.again()
    raise Unfit("variables that get another type with each pass of a loop")
