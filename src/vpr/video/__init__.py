"""People's own footage: whatever PyAV decodes, folders of pictures, arrays, pipes."""
