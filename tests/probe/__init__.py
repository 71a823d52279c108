"""Tests of the probe: its search against a slow cache, then whole probes of servers that lie in one way each."""
