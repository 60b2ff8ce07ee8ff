"""The parts of script/package: what a release consists of, and how it is packed."""
