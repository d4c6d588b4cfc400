"""Layouts themselves: their numbers, points, differences, and those the compiler chooses."""
