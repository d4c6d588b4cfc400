"""The version of this package; what is published takes it from here."""

__version__ = "0.1.0"
