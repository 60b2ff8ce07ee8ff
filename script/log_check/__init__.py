"""Compares the log lines and the messages that the pages of operations quote with the sources."""
