"""Tests of script/log-lines: python3 -m unittest discover --start-directory script --top-level-directory script."""
