"""Several sender processes: one plans, gates and records, the others carry requests and stamp answers.

The order, the gates and the clock of the load stay in one place whatever the number of processes; a worker gets a
request with the moment to send it at. All stamps are of the system's monotonic clock, which
processes share; that is checked.
"""
