"""HTTP/1.1 as a load generator needs it: bytes are stamped and read where the event loop hands them over.

A general client puts pools, queues and task switches between the socket and whoever takes the time, and each costs
accuracy under load. Here a chunk's moment is taken as the first thing in ``data_received``, and the answer is read in
the same call. Measured against others by ``benchmarks/load.py``.
"""
