"""Tests of script/apple-check: python3 -m unittest discover --start-directory script --top-level-directory script."""
