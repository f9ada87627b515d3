"""PyTorch: its functions in NumPy code, and NumPy code in its programs; the extra ``torch``."""

from mooncake_py.optional import import_optional

import_optional("torch", "torch", __name__)

from mooncake_py.integrations.torch.incoming import from_torch  # noqa: E402
from mooncake_py.integrations.torch.outgoing import to_torch  # noqa: E402

__all__ = ["from_torch", "to_torch"]
