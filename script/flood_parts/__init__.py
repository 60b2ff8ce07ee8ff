"""The parts of script/flood: what an attacker floods, and what a user does meanwhile."""
