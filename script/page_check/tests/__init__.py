"""Tests of script/pages: python3 -m unittest discover --start-directory script --top-level-directory script."""
