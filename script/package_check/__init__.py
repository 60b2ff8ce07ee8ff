"""The parts of script/package-check: an empty Debian system, and the packages in it."""
