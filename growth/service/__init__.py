"""The frame of all processes: settings, logs, metrics, health, signals and a clean shutdown.

A process declares itself (`growth.service.process.Process`) and its parts, which are async
functions that run until cancelled. Everything else is the same for all processes.
"""
