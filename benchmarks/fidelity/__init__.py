"""Designed, simulated and measured hits side by side, on real engines: `python -m benchmarks.fidelity`."""
