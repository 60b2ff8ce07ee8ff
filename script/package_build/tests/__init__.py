"""Tests of script/package: python3 -m unittest discover -s script -t script -p 'test_*.py'."""
