"""Figures of the README, each by one command. They are printed, never asserted."""
