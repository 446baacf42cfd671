"""The page of a timeline, and its summary in a notebook."""
