"""Regions, and properties of them."""
