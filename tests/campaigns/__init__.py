"""Long tests of robustness, as commands: `python -m tests.campaigns.checkpoints --count 10000`.

Each prints a line, writes a JSON file and ends with status 1 if anything was lost, hung, crashed,
raised something other than a VPRError, or wrote outside its folder. See docs/reliability.md.
"""
