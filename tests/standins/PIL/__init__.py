"""A stand-in for Pillow: pictures that are black."""
