"""What every process needs to run: settings, logs, metrics, health, signals and an orderly end.

A process says what it is (`growth.service.process.Process`) and hands over its parts, async
functions that run until they are cancelled; everything else is the same for all of them.
"""
