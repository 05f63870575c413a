"""Subjects that are put aside, so that what one object says stops nobody else.

If a rule raises an exception, the loop looks for the subject without which it doesn't, puts that
subject aside and makes the pass again. The subject counts, but nothing is decided on it, until one
of its objects changes. docs/designs/0012 says why this isn't done by the rules.
"""
