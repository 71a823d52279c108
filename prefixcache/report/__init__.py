"""A run's report: JSON for machines, one self-contained HTML file and a terminal table for people."""
