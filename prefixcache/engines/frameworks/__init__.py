"""One module per serving framework: what its metrics are called, in which unit, and what it can do."""
