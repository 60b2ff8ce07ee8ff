"""Keeps words out of the repository that an engineer who is new to it has to read twice."""
