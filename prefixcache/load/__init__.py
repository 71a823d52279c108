"""Sending a dataset to servers: client, gates, request records, the benchmark run."""
