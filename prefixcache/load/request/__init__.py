"""One request: sent, timed and read; what became of it, and whether it is sent again."""
