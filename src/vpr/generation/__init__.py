"""What the model generates: rollouts and samples of single levels, and imagined futures."""
