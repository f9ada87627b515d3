"""Regions: the intermediate representation, and the operations on it common to every step."""
