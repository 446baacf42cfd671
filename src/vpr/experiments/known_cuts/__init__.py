"""The montage: a film with known cuts, and other detectors to compare with."""
