"""From LLVM text to functions: optimised, kept on disk, linked, and called."""
