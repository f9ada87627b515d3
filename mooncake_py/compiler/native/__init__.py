"""Whole functions as regions, compiled by LLVM."""
