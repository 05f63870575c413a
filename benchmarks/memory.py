"""What this process has of the memory, as the kernel counts it."""

from __future__ import annotations

from pathlib import Path


def megabytes(field: str) -> float:
    """`VmRSS` is what it has now, `VmHWM` what it had at most.

    The peak of `getrusage` is none to go by: it counts that of the parent that started this one.
    """
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(field))
