"""The meaning of Python's operations in differentiated code: calls, attributes, iteration, text."""
