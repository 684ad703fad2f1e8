"""What a name says of the thing it stands for, where nothing else is known about that."""

from __future__ import annotations

import ast
import re

from torchlint.source.flow.kinds import LOADER, MODULE, OPTIMIZER, SCALER, SCHEDULER
from torchlint.source.text.index import last_word

LOSS, SAMPLER = "loss", "sampler"
_WORDS = {
    OPTIMIZER: re.compile(r"(^|_)opt(im(i[sz]ers?)?)?s?(_|$|[a-z0-9]$)|optimi[sz]er"),
    SCHEDULER: re.compile(  # other things have schedules, too
        r"^(?!.*(?:epsilon|eps_|beta|temperature|noise|entropy|tau_|curriculum|mask))"
        r".*(?:(?:^|_)(?:lr_)?sched(?:uler)?s?(?:_|$)|lr_?sched|scheduler$)"
    ),
    SCALER: re.compile(r"(grad|loss|amp)_?scaler|^scaler$"),
    LOADER: re.compile(r"loader$|(^|_)loader(_|$)"),
    LOSS: re.compile(r"loss|criterion|metric|objective"),
    SAMPLER: re.compile(r"sampler$"),
    MODULE: re.compile(
        # `freeze_modules(…)` is no model
        r"^(?!(get|make|build|create|load|save|freeze|unfreeze|init|initialize|set|update|train|eval|evaluate|test|validate|copy|check|print|show|setup|prepare|wrap|"
        r"compile|export|clone|sync|reset|count|run|fit|define|construct|return|is|has|add|remove|move|put|log|plot|apply|convert|select|"
        r"import|read|find|fetch|restore|resume|register|unwrap|reload|replace|choose|list|write|store|describe|profile|quantize|prune|trace|"
        r"parse|resolve|instantiate|download|merge|watch|visualize|draw|distribute|parallelize|shard|cast|new|generate|summarize|swap)_)"
        r"(?:.*_)?(?:(model|net|network|module|encoder|decoder|backbone|generator|discriminator|classifier|critic|actor|policy)s?(_|$)|.*(net|model)$)"
    ),
}
_LONGEST = 100  # characters of a name that are looked at, the last ones


def word_of(node: ast.AST) -> str:
    """`optimizers` of `self.optimizers["d"]`."""
    while isinstance(node, (ast.Subscript, ast.Call)):
        node = node.value if isinstance(node, ast.Subscript) else node.func
    return last_word(node)[-_LONGEST:]


def sounds_like(node: ast.AST, kind: str) -> bool:
    """Is it called like an optimizer, a model, …?"""
    return bool(_WORDS[kind].search(word_of(node).lower().strip("_")))


def is_named(node: ast.AST) -> bool:
    """A name, an attribute or an entry: what has a name of its own."""
    return isinstance(node, (ast.Name, ast.Attribute, ast.Subscript))
