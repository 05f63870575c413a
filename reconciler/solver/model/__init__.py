"""The question and the answer, in numbers."""
