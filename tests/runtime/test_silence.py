"""Blocks without warnings and output: of one thread, and put back in any order."""

from __future__ import annotations

import hashlib
import io
import json
import logging
import sys
import threading
import warnings
import zlib
from contextlib import redirect_stdout
from typing import Any

import pytest

from mooncake_py.runtime.silence import (
    Deferred,
    beside,
    hear,
    hear_native,
    is_muted,
    is_muted_descriptor,
    is_silent,
    run_muted,
    silent,
    without_streams,
)


def test_warnings_are_dropped_but_for_those_that_are_errors_or_recorded_inside() -> None:
    shown = warnings.showwarning
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with silent():
            warnings.warn("dropped", stacklevel=1)
            with warnings.catch_warnings(record=True) as inside:
                warnings.warn("recorded", stacklevel=1)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                with pytest.raises(UserWarning, match="raised"):
                    warnings.warn("raised", stacklevel=1)
        warnings.warn("shown", stacklevel=1)
    assert [str(w.message) for w in seen] == ["shown"]
    assert len(inside) == 1
    assert warnings.showwarning is shown


def test_warnings_wait() -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        first, second = Deferred(), Deferred()
        with first:
            warnings.warn("kept", stacklevel=1)
        with second:
            warnings.warn("not wanted", stacklevel=1)
        assert not seen
        first.show()
    assert [str(w.message) for w in seen] == ["kept"]


def test_other_threads_are_heard_whatever_the_order_of_blocks() -> None:
    shown = warnings.showwarning
    begun, end = threading.Event(), threading.Event()

    def other() -> None:
        with silent():
            begun.set()
            end.wait(10)
            warnings.warn("of the other", stacklevel=1)

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        thread = threading.Thread(target=other)
        with silent():
            thread.start()
            begun.wait(10)
        assert not is_silent()
        warnings.warn("of this one", stacklevel=1)
        end.set()
        thread.join()
    assert [str(w.message) for w in seen] == ["of this one"]
    assert warnings.showwarning is shown


def test_streams() -> None:
    known, new = io.StringIO(), io.StringIO()
    hear(known)
    assert not is_muted(known)
    with silent():
        hear(new)
        assert is_muted(known)
        assert is_muted(sys.stdout)
        assert not is_muted(new)


def test_handlers_of_streams_do_nothing() -> None:
    emit = logging.StreamHandler.emit
    stream = io.StringIO()
    log = logging.Logger("of this test")
    log.addHandler(logging.StreamHandler(stream))
    with silent(), without_streams():
        log.warning("dropped")
    with without_streams():
        log.warning("written")
    assert stream.getvalue() == "written\n"
    assert logging.StreamHandler.emit is emit


def test_native_code_writes_to_new_streams_and_for_other_threads_only() -> None:
    known, new = io.StringIO(), io.StringIO()
    hear(known)
    begun, end = threading.Event(), threading.Event()

    def run() -> int:
        begun.set()
        end.wait(10)
        json.dump([1], new)
        return known.write("silent")

    def other() -> None:
        begun.wait(10)
        known.write("of the other")
        end.set()

    thread = threading.Thread(target=other)
    thread.start()
    with silent():
        assert run_muted(run) == len("silent")
        with pytest.raises(TypeError):
            run_muted(lambda: known.write(1))  # type: ignore[arg-type]
    thread.join()
    assert known.getvalue() == "of the other"
    assert new.getvalue() == "[1]"
    assert "write" not in vars(known)
    run_muted(lambda: known.write("!"))
    assert known.getvalue().endswith("!")


def test_an_attribute_of_the_program_is_put_back() -> None:
    class Stream(io.StringIO):
        pass

    stream = Stream()
    write = stream.write
    stream.write = write  # type: ignore[method-assign]
    hear(stream)
    with silent():
        run_muted(lambda: stream.write("silent"))
    assert stream.getvalue() == ""
    assert vars(stream)["write"] is write


def test_files_by_number() -> None:
    assert not is_muted_descriptor(1)
    with silent():
        assert is_muted_descriptor(sys.__stdout__.fileno())  # type: ignore[union-attr]
        assert not is_muted_descriptor(-1)


def test_what_native_functions_write_to() -> None:
    written, read = io.StringIO(), io.StringIO()
    hear_native(json.dump, [written])
    hear_native(json.load, [read])
    with silent():
        assert is_muted(written)
        assert not is_muted(read)


def test_what_a_block_makes_itself_can_be_written_to() -> None:
    logger = logging.Logger("of silence")
    outside = io.StringIO()
    kept = logging.StreamHandler(outside)
    logger.addHandler(kept)
    with silent():
        own = io.StringIO()
        added = logging.StreamHandler(own)
        logger.addHandler(added)
        with redirect_stdout(io.StringIO()):
            hear(sys.stdout)
            assert not is_muted(sys.stdout)
            with silent():
                assert is_muted(sys.stdout)
            assert not is_muted(sys.stdout)
        with without_streams():
            logger.warning("a")
        with silent(), without_streams():
            logger.warning("b")
        assert is_muted(outside)
        assert not is_muted(own)
        assert is_muted(sys.stdout)
    assert (outside.getvalue(), own.getvalue()) == ("", "a\n")


class Unmade:
    """An object that is being made: what it answers is not there yet."""

    @property
    def __class__(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        raise AttributeError("not yet")


def test_objects_are_not_asked_whether_they_are_streams() -> None:
    hear_native(print, [Unmade()])
    hear(Unmade())
    with silent():
        assert not is_muted(Unmade())


@pytest.mark.parametrize("name", ["md5", "sha256", "blake2b", "sha3_256"])
def test_a_digest_stays_where_the_program_left_it(name: str) -> None:
    digest, other = hashlib.new(name), hashlib.new(name, b"ab")
    beside(digest.update)(b"a")
    with silent():
        beside(digest.update)(b"b")
        assert beside(digest.hexdigest)() == other.hexdigest()
        with silent():
            beside(digest.update)(b"c")
        assert beside(digest.hexdigest)() == other.hexdigest()
    assert digest.digest() == hashlib.new(name, b"a").digest()


def test_a_compressor_stays_where_the_program_left_it() -> None:
    compressor = zlib.compressobj()
    begun = compressor.compress(b"a")
    with silent():
        text = begun + beside(compressor.compress)(b"b") + beside(compressor.flush)()
        assert zlib.decompress(text) == b"ab"
    assert zlib.decompress(begun + compressor.flush()) == b"a"
    with silent():
        assert beside(compressor.flush) == compressor.flush
        assert beside(len) is len
        decompressor = zlib.decompressobj()
        beside(decompressor.decompress)(zlib.compress(b"ab"))
        assert decompressor.eof
