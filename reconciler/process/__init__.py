"""The reconciler process: how it starts, leads, stops and writes events."""
