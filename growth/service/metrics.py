"""The metrics registry of a process, which is passed to its parts instead of a global one.

So two processes in one interpreter, as in tests, don't share their numbers. A part declares its
metrics next to the code that changes them, with `registry=service.registry`.
"""

from __future__ import annotations

import platform

from prometheus_client import CollectorRegistry, GCCollector, Info, ProcessCollector

import growth


def new_registry(process: str) -> CollectorRegistry:
    """A registry with the metrics of any process: build, start, memory, CPU, garbage collection."""
    registry = CollectorRegistry(auto_describe=True)
    build = Info("growth_build", "Version of the running process", registry=registry)
    build.info(
        {
            "process": process,
            "version": growth.__version__,
            "python": platform.python_version(),
        }
    )
    ProcessCollector(registry=registry)
    GCCollector(registry)
    return registry
