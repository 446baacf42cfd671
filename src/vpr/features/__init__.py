"""Frozen features: footage as vectors from an image network that is not trained any further.

`extractor.py` is the protocol of such networks, `extract.py` computes features once and keeps them
in the cache, and `preprocessing.py`, which is stored with a model, turns them into its input.
"""
