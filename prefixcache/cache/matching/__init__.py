"""What counts as a hit: chained prefixes, equal blocks anywhere, equal content-defined chunks (RFC 3.3.14)."""
