"""One file per figure or table of the paper, each with its `EXPERIMENT`."""
