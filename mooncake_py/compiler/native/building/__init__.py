"""The statements of a region while it is read: numbers, arrays and their elements."""
