"""Events as annotations for ELAN (`.eaf`): one tier per level, times in milliseconds."""

from __future__ import annotations

import os
from datetime import datetime
from mimetypes import guess_type
from pathlib import Path
from xml.etree import ElementTree as ET

from vpr.segmenting.chapters import Chapters, media_name, media_url
from vpr.segmenting.timeline import Timeline
from vpr.segmenting.webvtt import milliseconds
from vpr.utils.files import write_bytes

SCHEMA = "http://www.mpi.nl/tools/elan/EAFv3.0.xsd"
KIND = "events"  # the linguistic type of all tiers


def write_eaf(path: Path, timeline: Timeline) -> None:
    write_bytes(path, eaf(timeline, path.parent))


def eaf(timeline: Timeline, folder: Path) -> bytes:
    """The file, which will be in `folder`. A tier has the parts from event to event of a level."""
    root = ET.Element(
        "ANNOTATION_DOCUMENT",
        {
            "AUTHOR": "vpr",
            "DATE": datetime.now().astimezone().isoformat(timespec="seconds"),
            "FORMAT": "3.0",
            "VERSION": "3.0",
            "xmlns:xsi": "http://www.w3.org/2001/XMLSchema-instance",
            "xsi:noNamespaceSchemaLocation": SCHEMA,
        },
    )
    _add_header(root, timeline.source, folder)
    order = ET.SubElement(root, "TIME_ORDER")
    slots: list[tuple[int, str]] = []  # milliseconds and name, two for each annotation
    for level in timeline.reported_levels:
        _add_tier(root, Chapters(timeline, level), slots)
    for time, name in sorted(slots, key=lambda slot: slot[0]):
        ET.SubElement(order, "TIME_SLOT", TIME_SLOT_ID=name, TIME_VALUE=str(time))
    ET.SubElement(
        root,
        "LINGUISTIC_TYPE",
        LINGUISTIC_TYPE_ID=KIND,
        TIME_ALIGNABLE="true",
        GRAPHIC_REFERENCES="false",
    )
    ET.indent(root, " ")
    return bytes(ET.tostring(root, encoding="UTF-8", xml_declaration=True))


def _add_header(root: ET.Element, source: str, folder: Path) -> None:
    header = ET.SubElement(root, "HEADER", MEDIA_FILE="", TIME_UNITS="milliseconds")
    media = ET.SubElement(header, "MEDIA_DESCRIPTOR", MEDIA_URL=media_url(source))
    media.set("MIME_TYPE", guess_type(media_name(source))[0] or "unknown")
    if os.path.isfile(source):
        beside = os.path.relpath(source, folder).encode("utf-8", "replace").decode("utf-8")
        media.set("RELATIVE_MEDIA_URL", f"./{beside}")


def _add_tier(root: ET.Element, chapters: Chapters, slots: list[tuple[int, str]]) -> None:
    tier = ET.SubElement(root, "TIER", TIER_ID=f"Level {chapters.level}", LINGUISTIC_TYPE_REF=KIND)
    for chapter in chapters:
        number = len(slots) // 2 + 1
        first, last = f"ts{2 * number - 1}", f"ts{2 * number}"
        start = milliseconds(chapter.start)
        end = max(milliseconds(chapter.end), start + 1)  # ELAN has no annotations of length 0
        slots += [(start, first), (end, last)]
        annotation = ET.SubElement(
            ET.SubElement(tier, "ANNOTATION"),
            "ALIGNABLE_ANNOTATION",
            ANNOTATION_ID=f"a{number}",
            TIME_SLOT_REF1=first,
            TIME_SLOT_REF2=last,
        )
        ET.SubElement(annotation, "ANNOTATION_VALUE").text = chapter.title
