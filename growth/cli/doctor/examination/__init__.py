"""The examinations of `growth doctor`, a module for each thing that can be wrong.

Each is a function from a place to findings. They only read: what is created is created as a
rehearsal, and rights are asked for without being used.
"""
