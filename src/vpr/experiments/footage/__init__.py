"""The footage model: real clips, films made of them, features, training, calibration, scores."""
