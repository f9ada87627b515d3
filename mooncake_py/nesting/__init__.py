"""Derivatives inside differentiated functions."""
