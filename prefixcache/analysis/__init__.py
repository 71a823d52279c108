"""Figures of a run beside its plan: percentiles, hit ratios, deviations, and how the run went."""
