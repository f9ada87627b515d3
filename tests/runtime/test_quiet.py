"""NumPy without warnings: the setting that is made once does what `np.errstate` does."""

from __future__ import annotations

import sys
import threading
import warnings

import numpy as np
import pytest

from mooncake_py import MooncakeWarning
from mooncake_py.diagnostics.warned import pending
from mooncake_py.runtime import quiet

MADE = [
    pair
    for pair in (quiet._made_once(quiet._silent), quiet._made_each_time(quiet.SILENT))
    if pair is not None
]


def divide():
    return np.ones(1) / np.zeros(1)


@pytest.mark.parametrize(
    ("setting", "enter", "leave"), MADE, ids=["once", "each time"][-len(MADE) :]
)
def test_no_warning_inside_and_the_setting_of_before_afterwards(setting, enter, leave):
    with np.errstate(all="raise", under="warn"):
        before = np.geterr()
        outer = setting()
        enter()
        inner = setting()
        enter()
        assert set(np.geterr().values()) == {"ignore"}
        assert divide() == np.inf
        leave(inner)
        assert divide() == np.inf
        leave(outer)
        assert np.geterr() == before
        with pytest.raises(FloatingPointError):
            divide()


def test_numpy_keeps_its_setting_where_it_is_found():
    assert len(MADE) == 2


def test_block_is_left_by_an_exception():
    before = np.geterr()
    with pytest.raises(KeyError), quiet.Quiet():
        raise KeyError
    assert np.geterr() == before


@pytest.mark.parametrize("block", [quiet.Quiet, quiet.Raising, quiet.Unheard])
def test_block_whose_beginning_is_interrupted_changes_nothing(block):
    """A profiler raises at each of the calls with which the block begins, in turn."""
    before, filters, unheard = np.geterr(), list(warnings.filters), pending.unheard
    calls = 0
    while calls < 100:
        left = calls
        calls += 1

        def interrupt(frame, event, _):
            nonlocal left
            if event == "c_return" and frame.f_code.co_name != "interrupt":
                left -= 1
                if left == -1:
                    sys.setprofile(None)
                    raise KeyboardInterrupt

        made = block()
        sys.setprofile(interrupt)
        try:
            made.__enter__()
        except KeyboardInterrupt:
            sys.setprofile(None)
            assert (np.geterr(), warnings.filters, pending.unheard) == (before, filters, unheard)
        else:
            sys.setprofile(None)
            made.__exit__(None, None, None)
            break
    assert 1 < calls < 100


def test_other_threads_keep_theirs():
    found = []
    with quiet.Quiet():
        assert divide() == np.inf
        thread = threading.Thread(target=lambda: found.append(np.geterr()["divide"]))
        thread.start()
        thread.join()
    assert found == ["warn"]


@pytest.mark.parametrize(
    ("modes", "strict"),
    [
        ({}, False), ({"all": "ignore"}, False), ({"over": "raise"}, True),
        ({"under": "warn"}, True), ({"invalid": "print"}, True), ({"all": "raise"}, True),
    ],
)  # fmt: skip
def test_what_quick_forms_cannot_tell(modes, strict):
    with np.errstate(**modes):
        assert quiet.is_strict() is strict


def test_unheard_arithmetic_warns_of_nothing_and_counts():
    with warnings.catch_warnings(record=True) as log:
        warnings.simplefilter("always")
        before, filters = np.geterr(), list(warnings.filters)
        with quiet.Unheard() as block:
            divide()
            warnings.warn("of Python code", stacklevel=1)
            with quiet.Unheard() as inner:
                divide()
        assert (block.noticed, inner.noticed) == (3, 1)
        with quiet.Unheard() as block, pytest.raises(KeyError):
            raise KeyError
        assert block.noticed == 0
        assert np.geterr() == before
        assert warnings.filters == filters
        assert not log
        divide()
    assert len(log) == 1


def test_unheard_is_a_matter_of_one_thread():
    heard = []

    def warn():
        with warnings.catch_warnings(record=True) as log:
            warnings.simplefilter("always")
            divide()
        heard.append(len(log))

    with quiet.Unheard() as block:
        thread = threading.Thread(target=warn)
        thread.start()
        thread.join()
    assert heard == [1]
    assert block.noticed == 0


def test_warnings_of_the_engine_are_heard():
    with pytest.warns(MooncakeWarning, match="seen"), quiet.Unheard():
        warnings.warn("seen", MooncakeWarning, stacklevel=1)


def test_unheard_arithmetic_is_not_strict():
    with quiet.Unheard():
        assert not quiet.is_strict()
        assert quiet.error_hook() is None
