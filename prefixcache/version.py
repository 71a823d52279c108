"""Versions written into datasets: they decide what may be reused."""

from importlib.metadata import PackageNotFoundError, version

# Raised whenever equal configurations would give other bytes than before.
GENERATOR_VERSION = "1.0"

try:
    PACKAGE_VERSION = version("prefixcache")
except PackageNotFoundError:  # a source tree that was never installed
    PACKAGE_VERSION = "0+source"
