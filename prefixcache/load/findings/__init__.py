"""How a pass went beside how it was asked for: figures of the load and what puts them in doubt."""
