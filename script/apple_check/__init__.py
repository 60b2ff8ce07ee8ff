"""Compiling for Apple's systems without their SDK."""
