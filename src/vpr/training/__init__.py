"""Training: the loop, its stages, and loss terms in addition to the ELBO."""
