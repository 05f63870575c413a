"""What is claimed about speed and cost, as commands: `python -m benchmarks NAME`."""
