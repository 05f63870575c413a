"""One registry for each process, made here and handed to its parts, never the library's global one.

So two processes in one interpreter (every test has some) don't count into each other's numbers. A
part declares its metrics beside the code that moves them, with `registry=service.registry`.
"""

from __future__ import annotations

import platform

from prometheus_client import CollectorRegistry, GCCollector, Info, ProcessCollector

import growth


def new_registry(process: str) -> CollectorRegistry:
    """A registry with what is worth knowing of any process: build, start, memory, CPU, garbage."""
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
