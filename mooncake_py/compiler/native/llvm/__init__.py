"""From sweeps to the text of LLVM's intermediate representation."""
