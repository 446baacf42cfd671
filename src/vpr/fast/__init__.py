"""Optimised versions of parts of the model. Each file names the plain version that its test
compares it with."""
