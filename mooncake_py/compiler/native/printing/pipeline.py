"""How Numba compiles what is printed: by the few of its passes that printed text needs.

Each name has one type, so no versions of it are told apart; there are no closures, no branches on
constants and nothing to inline.  Half of the passes that are left out look through the whole text
for names in use, in a time that grows with its square.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import Any

__all__ = ["pipeline"]


@lru_cache(maxsize=1)
def pipeline() -> Any:
    """Return the class of compilers, for ``njit(pipeline_class=...)``.  Imports Numba."""
    compiler = import_module("numba.core.compiler")
    machinery = import_module("numba.core.compiler_machinery")
    untyped = import_module("numba.core.untyped_passes")
    typed = import_module("numba.core.typed_passes")
    lowering = lowering_pass(machinery, typed)

    class Pipeline(compiler.CompilerBase):
        """Compiles functions of numbers and arrays."""

        def define_pipelines(self) -> list[Any]:
            passes = machinery.PassManager("printed")
            for step in (
                untyped.TranslateByteCode,
                untyped.FixupArgs,
                untyped.IRProcessing,
                untyped.GenericRewrites,  # powers with a literal exponent
                typed.NopythonTypeInference,
                typed.IRLegalization,
                typed.AnnotateTypes,
                lowering,
                typed.NoPythonBackend,
            ):
                passes.add_pass(step, step.__name__)
            passes.finalize()
            return [passes]

    return Pipeline


def lowering_pass(machinery: Any, typed: Any) -> Any:
    """Return the pass that makes LLVM's code, where no two arrays of a function overlap.

    LLVM then need not compare their addresses before each loop, nor make a slow one beside it.
    """
    lowering = import_module("numba.core.lowering")
    ir = import_module("llvmlite.ir")

    class Apart(lowering.Lower):
        """Tells LLVM that the elements of an array are found by no other name."""

        def setup_function(self, fndesc: Any) -> None:
            super().setup_function(fndesc)
            byte = ir.IntType(8).as_pointer()
            for part in self.context.call_conv.get_arguments(self.function):
                if part.type.is_pointer and part.type != byte:  # owners of memory may be shared
                    part.add_attribute("noalias")

    @machinery.register_pass(mutates_CFG=True, analysis_only=False)
    class Lowering(typed.BaseNativeLowering):
        """Makes LLVM's code."""

        _name = "mooncake_py_lowering"
        lowering_class = Apart

    return Lowering
