"""Tables as JSON: an array of forwards, each with its steps; a failing step has an `error`."""

from __future__ import annotations

import msgspec

from torchlint.traces.story import Story


def render(stories: list[Story]) -> str:
    """One JSON array."""
    return msgspec.json.format(msgspec.json.encode([record(s) for s in stories]), indent=2).decode() + "\n"


def record(story: Story) -> dict:
    """One forward."""
    made = msgspec.to_builtins(story.table)
    made["path"] = story.path
    made["parameters"] = story.table.parameters
    made["reason"] = story.reason
    made["certain"] = story.fault is not None
    return made
