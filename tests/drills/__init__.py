"""Six additions, each made in a copy of the project: what the next owner will do, tried.

What an addition takes is told in CONTRIBUTING.md; here it is done, in as many files as it may
touch, and what must follow by itself is run.
"""
