"""How fast and how true load generators are: ours and others against one server that knows when it sent what."""
