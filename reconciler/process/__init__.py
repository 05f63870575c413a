"""The process around the loop: how it starts, stops and speaks."""
