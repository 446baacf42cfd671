"""One file per experiment, with its `EXPERIMENT`."""
