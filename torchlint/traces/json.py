"""Tables as JSON: an array of forwards, each with its steps; a failing step has an `error`."""

from __future__ import annotations

import msgspec

from torchlint.printable import json_text
from torchlint.traces.story import Story


def render(stories: list[Story]) -> str:
    """One JSON array."""
    return written([record(story) for story in stories])


def written(made: list | dict) -> str:
    """JSON of plain things, which may be named by whoever wrote the program."""
    return json_text(msgspec.to_builtins(made), indent=2) + "\n"


def record(story: Story) -> dict:
    """One forward."""
    made = msgspec.to_builtins(story.table)
    made["path"] = story.path
    made["parameters"] = story.table.parameters
    made["reason"] = story.reason
    made["certain"] = story.fault is not None
    return made
