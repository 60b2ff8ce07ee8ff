"""The parts of script/requirements: the list of requirements, the tests that prove them, and the results of a run."""
