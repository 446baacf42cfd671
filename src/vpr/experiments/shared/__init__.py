"""Code that several experiments use: plots, factor readers, labels."""
