"""Errors and places: what users read."""
