"""Small helpers without knowledge of the model: files, JSON, trees of tensors, threads."""
