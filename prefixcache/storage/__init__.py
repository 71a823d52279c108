"""Folders behind an address (S3 and whatever else fsspec reaches): files in and out, never credentials."""
