"""Checks the pages: what they quote of the log and of messages, and where their links lead."""
