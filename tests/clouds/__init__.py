"""Clouds in the loop: seen, asked and bought from by the whole process."""
