"""Derivatives that are taken inside a function which is itself being differentiated."""
