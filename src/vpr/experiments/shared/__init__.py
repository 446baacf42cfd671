"""What several experiments have in common: plots, readers of pictures, ground truth."""
