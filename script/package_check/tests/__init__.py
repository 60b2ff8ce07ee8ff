"""Tests of script/package-check: python3 -m unittest discover -s script -t script -p 'test_*.py'."""
