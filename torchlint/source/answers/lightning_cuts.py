"""Where the loss that a Lightning module returns, or a term of it, is taken out of its graph."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from torchlint.source.answers.backwards import Cut, cut_terms, with_graph_inside
from torchlint.source.flow.classes import ClassInfo
from torchlint.source.flow.flow import origins
from torchlint.source.training.graphs import is_cut, returned_losses


def cut_results(info: ClassInfo) -> Iterator[Cut]:
    """What cuts the graph of the loss that the `training_step` of a Lightning module returns for Lightning's own
    backward, or that of one of its terms.
    """
    if info.module.index.says("automatic_optimization"):
        return
    for loss in returned_losses(info):
        found = origins(loss)
        if found and all(o.node is not None and is_cut(o) for o in found):
            cuts = [Cut(place, inner, False) for cut in found for place, inner in with_graph_inside(cut)]
        else:
            cuts = list(islice(cut_terms(loss), 1))
        yield from (cut for cut in cuts if cut.place.module is info.module)
