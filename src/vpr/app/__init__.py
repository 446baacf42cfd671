"""The web application of `vpr app`: `jobs.py` segments an upload, `server.py` is the page."""
