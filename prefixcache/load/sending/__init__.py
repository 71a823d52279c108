"""Many requests: in which order, when and where they go, and whether the sender kept time."""
