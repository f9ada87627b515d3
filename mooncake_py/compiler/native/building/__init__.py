"""Builders of the statements of a region: numbers, arrays and their elements."""
