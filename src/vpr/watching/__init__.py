"""Events in live footage: cameras, streams and pipes."""
