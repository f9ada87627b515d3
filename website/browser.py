"""Chromium without a window, spoken to through a pipe in the DevTools protocol."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)


def executable() -> str | None:
    """Return the path of a Chromium, None where there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Tab:
    """A page of the browser: it answers commands, and reports events between the answers."""

    def __init__(self, commands: BinaryIO, messages: BinaryIO) -> None:
        self._commands, self._messages = commands, messages
        self._sent = 0
        self._session: dict[str, str] = {}
        self.events: list[dict[str, Any]] = []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        attached = self.send("Target.attachToTarget", targetId=target, flatten=True)
        self._session = {"sessionId": attached["sessionId"]}
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """Give a command and return its result."""
        self._sent += 1
        message = {"id": self._sent, "method": method, "params": params, **self._session}
        self._commands.write(json.dumps(message).encode() + b"\0")
        self._commands.flush()
        while (answer := self._receive()).get("id") != self._sent:
            self.events.append(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def open(self, url: str) -> None:
        """Load a page, with everything in it, and forget the events of the last one."""
        self.events.clear()
        self.send("Page.navigate", url=url)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._receive())

    def evaluate(self, script: str) -> Any:
        """Return the value of an expression in JavaScript, of a promise when it is kept."""
        answer = self.send(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    def resize(self, width: int, height: int) -> None:
        """Give the page a window of this size."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def _receive(self) -> dict[str, Any]:
        text = bytearray()
        while (byte := self._messages.read(1)) != b"\0":
            if not byte:
                raise RuntimeError("the browser has ended")
            text += byte
        return json.loads(text)


@contextmanager
def browser(path: str, limit: float = 1200) -> Iterator[Tab]:
    """Run the browser with a profile of its own; end it afterwards, or after `limit` seconds."""
    read_commands, write_commands = os.pipe()
    read_messages, write_messages = os.pipe()
    # The protocol wants these descriptors to be 3 and 4.
    script = f'exec "$0" "$@" 3<&{read_commands} 4>&{write_messages} 2>/dev/null'
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        arguments = ["bash", "-c", script, path, *FLAGS, f"--user-data-dir={profile}"]
        process = subprocess.Popen(arguments, pass_fds=(read_commands, write_messages))
        os.close(read_commands)
        os.close(write_messages)
        end = threading.Timer(limit, process.kill)
        end.start()
        with open(write_commands, "wb") as commands, open(read_messages, "rb") as messages:
            try:
                yield Tab(commands, messages)
            finally:
                end.cancel()
                process.terminate()
                process.wait()
