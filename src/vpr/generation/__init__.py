"""Generation: rollouts and samples of single levels, and imagined futures over physical time."""
