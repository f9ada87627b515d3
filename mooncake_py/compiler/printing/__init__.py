"""From the representation to text of Python, for the machine and for readers."""
