"""Frozen features: footage as vectors from an image network that is not trained any further.

`extractor.py` has the protocol of such networks, `extract.py` computes features once and keeps them
in the cache, and `preprocessing.py`, stored with a model, makes the input of the model of them.
"""
