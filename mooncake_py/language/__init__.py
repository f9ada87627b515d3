"""What Python means while a function is differentiated: calls, attributes, iteration, text."""
