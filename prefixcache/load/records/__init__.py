"""What a run writes while it lasts: a row per request, a series of samples, token times, its files."""
