"""What the product knows of serving frameworks: metric names and units, cache reset, server facts."""
