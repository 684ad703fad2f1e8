"""Addresses that no client and no user should give: of documents, and of schedulers."""

import pytest
from lsprotocol import types

from torchlint.fleet.executors import NoExecutor, engine
from torchlint.frontends.lsp.documents import OpenFiles


@pytest.mark.parametrize("uri", ["untitled://[x", "file://[::1/a.py", "http://["])
def test_a_document_with_a_broken_uri_is_opened_under_a_name_of_ours(uri, tmp_path):
    unit = OpenFiles("utf-16", str(tmp_path)).open(types.TextDocumentItem(uri, "python", 1, "import torch"))
    assert unit.path == str(tmp_path / "untitled.py")


def test_a_port_of_thirty_digits_is_one_clear_line():
    pytest.importorskip("distributed")
    with pytest.raises(NoExecutor, match="no scheduler answers"):
        engine("dask://127.0.0.1:1" + "0" * 30, 1)
