"""The configuration as a JSON schema, for editors that complete and check it: made from the options themselves."""

from __future__ import annotations

import json
import sys
from typing import Any

import msgspec

from torchlint.config import Settings
from torchlint.installed import VERSION
from torchlint.options import LONGEST_TEXT, LOOSE_LISTS, Options
from torchlint.reports import FORMATS
from torchlint.reports.links import SITE


def schema() -> dict[str, Any]:
    """What may stand in a torchlint.toml, and below `[tool.torchlint]` in a pyproject.toml."""
    options = msgspec.json.schema(Options)["$defs"]["Options"]
    defaults = Settings()
    for name, option in options["properties"].items():
        option["examples"] = [_toml(text) for text in option["examples"]]
        default = getattr(defaults, name.replace("-", "_"), None)
        if default not in (None, ""):
            option["default"] = json.loads(json.dumps(default))
        if name in LOOSE_LISTS:
            option["additionalProperties"] = {"anyOf": [option["additionalProperties"], {"type": "string"}]}
        for text in _texts(option):
            text["maxLength"] = LONGEST_TEXT
    options["properties"]["output-format"]["enum"] = list(FORMATS)
    options["properties"]["target-torch"]["pattern"] = f"^(?:{VERSION})$"
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": f"{SITE}/torchlint.schema.json",
        "title": "torchlint",
        "description": "The configuration of torchlint: a torchlint.toml, or [tool.torchlint] of a pyproject.toml.",
        **{key: options[key] for key in ("type", "properties", "additionalProperties")},
    }


def _texts(schema: Any) -> list[dict[str, Any]]:
    """The parts of a schema that are free text."""
    if isinstance(schema, dict):
        own = [schema] if schema.get("type") == "string" and "enum" not in schema else []
        return own + [text for part in schema.values() for text in _texts(part)]
    return [text for part in schema for text in _texts(part)] if isinstance(schema, list) else []


def _toml(text: str) -> Any:
    """The value of an example."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    return tomllib.loads(f"value = {text}")["value"]
