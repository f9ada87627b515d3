"""One forward-mode call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mooncake_py.language import dispatch
from mooncake_py.modes.forward.handlers import forward_handlers
from mooncake_py.modes.forward.recorder import Recorder

if TYPE_CHECKING:
    from mooncake_py.runtime.forward_mode import ForwardMode
    from mooncake_py.runtime.mode import Mode

__all__ = ["ForwardContext"]


class ForwardContext(Recorder):
    """The operations of rewritten code, with tangents."""

    has_gate = True

    def load_handlers(self) -> None:
        """Take the tables of handlers for the rules that are registered now."""
        self.rules_version = dispatch.handlers().version
        self.handlers, self.ways_found = forward_handlers(self.rules_version)
        self.set_look_up()
        self.heed_settings()


if TYPE_CHECKING:  # that nothing which the mode promises is missing

    def _over(base: Mode) -> ForwardMode:
        return ForwardContext(base, plain=True)
