"""Bounded caches of real engines: what each request hits when capacity, routing and eviction bind."""
