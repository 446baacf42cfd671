"""Configurations round-trip through JSON; unknown content raises an error."""

import json

import pytest

from vpr.config import RunConfig
from vpr.errors import VPRError
from vpr.presets import PRESETS
from vpr.utils.config_json import from_dict, to_dict


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_round_trips(name: str) -> None:
    config = PRESETS[name]
    again = from_dict(RunConfig, json.loads(json.dumps(to_dict(config))), "config")
    assert again == config
    assert config.preset == name


def test_missing_fields_take_their_defaults() -> None:
    assert from_dict(RunConfig, {}, "config") == RunConfig()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"colour": 1}, "unknown field 'colour' in config"),
        ({"model": {"depth": 3}}, "unknown field 'depth' in config.model"),
        ({"model": {"levels": "2"}}, "config.model.levels cannot be '2'"),
        ({"model": {"levels": True}}, "config.model.levels cannot be True"),
        ({"model": {"network": "resnet"}}, "config.model.network cannot be 'resnet'"),
        ({"model": {"gamma": float("nan")}}, "config.model.gamma cannot be nan"),
        ({"seed": -1}, "seed must be 0 to 4294967295"),
        ({"data": {"name": []}}, "config.data.name must be one of"),
        ({"model": 3}, "config.model must be an object"),
        ({"data": {"name": "imagenet"}}, "config.data.name must be one of"),
        ({"data": {}}, "config.data.name must be one of"),
        ({"model": {"levels": 0}}, "levels must be 1 or more"),
        ({"model": {"frame": [3, 60, 64]}}, "multiples of 16"),
        ({"training": {"length": 1}}, "length must be 2 or more"),
        ({"model": {"frame": [3, 32, 32]}}, "model.frame must be the data's"),
    ],
)
def test_invalid_configurations_raise(change: dict[str, object], words: str) -> None:
    with pytest.raises(VPRError, match=words):
        from_dict(RunConfig, change, "config")
