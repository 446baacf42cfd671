"""Helpers: files, configurations as JSON, trees of tensors, input checks, threads."""
