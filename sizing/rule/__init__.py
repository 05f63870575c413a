"""The rule of sizing, without I/O and without a clock.

All amounts are exact: integers or fractions in the units of `growth.scheduling.resources`, which
are thousandths for CPU, and bytes or pieces for everything else. They are rounded once, at the end
and upwards, when they become the request of a pod.
"""
