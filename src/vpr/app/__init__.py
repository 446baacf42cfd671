"""The web app of `vpr app`: `upload_jobs.py` segments an upload, `server.py` is the page."""
