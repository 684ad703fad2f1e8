"""The parts of SARIF 2.1.0 that torchlint writes, as a JSON schema in our own words.

The published schema, which accepts the output as well, is not part of this repository.
"""

REGION = {
    "type": "object",
    "required": ["startLine"],
    "additionalProperties": False,
    "properties": {
        name: {"type": "integer", "minimum": 1} for name in ("startLine", "startColumn", "endLine", "endColumn")
    },
}
ARTIFACT = {
    "type": "object",
    "required": ["uri"],
    "additionalProperties": False,
    "properties": {
        "uri": {"type": "string", "pattern": "^(file:///)?[A-Za-z0-9._~%/:+@-]+$"},
        "uriBaseId": {"const": "SRCROOT"},
    },
}
MESSAGE = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}
LOCATION = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "id": {"type": "integer", "minimum": 0},
        "message": MESSAGE,
        "logicalLocations": {"type": "array"},
        "physicalLocation": {
            "type": "object",
            "required": ["artifactLocation"],
            "additionalProperties": False,
            "properties": {"artifactLocation": ARTIFACT, "region": REGION},
        },
    },
}
RESULT = {
    "type": "object",
    "required": ["ruleId", "message", "locations"],
    "properties": {
        "level": {"enum": ["none", "note", "warning", "error"]},
        "message": MESSAGE,
        "locations": {"type": "array", "minItems": 1, "items": LOCATION},
        "relatedLocations": {"type": "array", "uniqueItems": True, "items": LOCATION},
        "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
        "fixes": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["artifactChanges"],
                "properties": {
                    "description": MESSAGE,
                    "artifactChanges": {
                        "type": "array",
                        "minItems": 1,
                        "items": {
                            "type": "object",
                            "required": ["artifactLocation", "replacements"],
                            "properties": {
                                "artifactLocation": ARTIFACT,
                                "replacements": {
                                    "type": "array",
                                    "minItems": 1,
                                    "items": {
                                        "type": "object",
                                        "required": ["deletedRegion"],
                                        "properties": {"deletedRegion": REGION, "insertedContent": MESSAGE},
                                    },
                                },
                            },
                        },
                    },
                },
            },
        },
    },
}
RULE = {
    "type": "object",
    "required": ["id"],
    "properties": {
        "id": {"type": "string"},
        "name": {"type": "string"},
        "shortDescription": MESSAGE,
        "fullDescription": MESSAGE,
        "help": MESSAGE,
        "helpUri": {"type": "string", "format": "uri"},
    },
}
SARIF = {
    "type": "object",
    "required": ["version", "runs"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["tool", "results"],
                "properties": {
                    "tool": {
                        "type": "object",
                        "required": ["driver"],
                        "properties": {
                            "driver": {
                                "type": "object",
                                "required": ["name"],
                                "properties": {"rules": {"type": "array", "uniqueItems": True, "items": RULE}},
                            }
                        },
                    },
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "results": {"type": "array", "items": RESULT},
                },
            },
        },
    },
}
