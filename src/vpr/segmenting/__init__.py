"""Video in, timeline out."""
