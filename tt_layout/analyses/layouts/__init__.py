"""Layouts themselves: properties, points, differences, and defaults of the compiler."""
