"""The examinations of `growth doctor`, a module for each thing that can be wrong.

Each is a function from a place to findings. They change nothing: objects are created with a dry run
only, and permissions are checked without being used.
"""
