"""A stand-in: SGLang imports torchvision for pictures, and a text model has none."""

from . import io, ops, transforms  # noqa: F401

__version__ = "0.28.0"
