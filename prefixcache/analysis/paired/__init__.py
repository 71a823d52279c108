"""Two runs or passes compared request by request: pairs, bootstrap intervals, what differs."""
