"""Footage as it happens: frames in, boundaries out, and never behind without saying so."""
