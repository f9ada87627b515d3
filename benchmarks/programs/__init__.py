"""Whole programs as people in their fields write them: what differentiating them costs."""
