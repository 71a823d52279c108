"""Collisions: content that a cache takes for shared although it is not planned so (RFC 3.3.14-3.3.15; domain.md 6)."""
