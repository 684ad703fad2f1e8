"""A rule or torchlint itself failed on this file; everything else was still checked.

The finding names the rule and the line at which it failed. Please report it with the piece of code that it points at.
It can be silenced like any other finding until it is mended: `# noqa: TL000`.
"""
