"""What `import vpr` shows: few names, and all of them there."""

import vpr


def test_ten_names_or_fewer() -> None:
    assert len(vpr.__all__) <= 10
    assert all(hasattr(vpr, name) for name in vpr.__all__)
