"""SVG elements as text."""

from __future__ import annotations

from html import escape


def tag(name: str, content: str = "", **attributes: str | float) -> str:
    """An element around `content`, which is markup.

    `class_` becomes class, other underscores become hyphens.
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for key, value in attributes.items()
    )
    return f"<{name}{written}>{content}</{name}>"


def drawing(content: str, width: float, height: float, label: str) -> str:
    """An SVG image; `label` describes it for screen readers."""
    return tag(
        "svg",
        content,
        width=width,
        height=height,
        viewBox=f"0 0 {_value(width)} {_value(height)}",
        role="img",
        aria_label=label,
    )


def _value(value: str | float) -> str:
    if isinstance(value, str):
        return escape(value)
    return f"{value:.2f}".rstrip("0").rstrip(".")
