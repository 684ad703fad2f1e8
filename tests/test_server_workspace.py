"""The language server and what surrounds a text: configuration, settings, folders, other files."""

from pathlib import Path

import pytest
from lsp_client import LOSS, QUIET, Editor, capabilities, editor, same_editor, shared_servers_end  # noqa: F401
from lsprotocol import types

pytestmark = pytest.mark.asyncio


async def test_the_configuration_file_counts_and_is_watched(tmp_path):
    config = tmp_path / "torchlint.toml"
    config.write_text('ignore = ["TL101"]\n')
    async with same_editor(tmp_path, QUIET) as at:
        uri = at.open("a.py", LOSS)
        assert await at.codes(uri) == []
        watched = [r for r in at.registered if r.method == "workspace/didChangeWatchedFiles"]
        assert any("torchlint.toml" in w["globPattern"] for w in watched[0].register_options["watchers"])
        config.write_text("")
        tell_of(at, config)
        await at.until(lambda: [d.code for d in at.shown(uri)] == ["TL101"])


def tell_of(at: Editor, *paths: Path) -> None:
    events = [types.FileEvent(path.as_uri(), types.FileChangeType.Changed) for path in paths]
    at.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(events))


async def test_a_broken_configuration_is_one_message(tmp_path):
    (tmp_path / "torchlint.toml").write_text("ignore = [\n")
    async with same_editor(tmp_path, QUIET) as at:
        uri = at.open("a.py", LOSS)
        assert await at.codes(uri) == [("TL101", 6)]
        at.type(uri, "\n", (0, 0))
        assert await at.codes(uri) == [("TL101", 7)]
        assert len(at.messages) == 1 and "torchlint.toml" in at.messages[0]


async def test_while_a_configuration_is_broken_the_last_good_one_counts(tmp_path):
    config = tmp_path / "torchlint.toml"
    config.write_text('ignore = ["TL101"]\n')
    async with same_editor(tmp_path, QUIET) as at:
        uri = at.open("a.py", LOSS)
        assert await at.codes(uri) == []
        for broken in (1, 2):
            config.write_text('ignore = ["TL101"\n')
            tell_of(at, config)
            await at.until(lambda: len(at.messages) == broken)
            at.type(uri, "\n", (0, 0))
            assert await at.codes(uri) == []
            config.write_text("")
            tell_of(at, config)
            await at.until(lambda: at.shown(uri))
            config.write_text('ignore = ["TL101"]\n')
            tell_of(at, config)
            await at.until(lambda: not at.shown(uri))


async def test_the_editor_has_settings_and_changes_them(tmp_path):
    async with editor(tmp_path, settings={**QUIET, "ignore": ["TL101"]}) as at:  # from its first moment
        uri = at.open("a.py", LOSS)
        assert await at.codes(uri) == []
        at.configure({**QUIET, "select": ["TL101"], "nonsense": 1, "ignore": 5})
        await at.until(lambda: at.shown(uri))
        at.configure({**QUIET, "enable": False})
        await at.until(lambda: not at.shown(uri))


@pytest.mark.parametrize("wrong", [{"select": ["TL9999"]}, {"ignore": ["\0"]}, {"configuration": "~nobody\0"}])
async def test_an_editor_that_wants_what_there_is_not_is_told_and_sees_the_rest(wrong, tmp_path):
    async with same_editor(tmp_path, {**QUIET, **wrong}) as at:
        uri = at.open("a.py", LOSS)
        assert await at.codes(uri) == [("TL101", 6)]
        at.type(uri, "\n", (0, 0))
        assert await at.codes(uri) == [("TL101", 7)]
        assert len(at.messages) == 1 and at.messages[0].isprintable()


async def test_settings_from_the_start(tmp_path):
    able = capabilities(workspace={"configuration": False})
    async with editor(tmp_path, able, dryRun=False, ignore=["TL101"]) as at:
        uri = at.open("a.py", LOSS)
        assert await at.codes(uri) == []
        sent = {"torchlint": {"dryRun": False, "ignore": []}}
        at.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(sent))
        await at.until(lambda: at.shown(uri))


async def test_each_folder_of_the_workspace_has_its_own_rules(tmp_path):
    folders = [tmp_path / name for name in ("one", "two", "three")]
    for folder in folders:
        folder.mkdir()
    (folders[0] / "torchlint.toml").write_text('ignore = ["TL101"]\n')
    quiet = {folders[1].as_uri(): {**QUIET, "ignore": ["TL101"]}}
    async with editor(tmp_path, folders=folders, settings=QUIET, folder_settings=quiet) as at:
        uris = [at.open(f"{folder.name}/a.py", LOSS) for folder in folders]
        await at.until(lambda: at.shown(uris[2]))
        assert [await at.codes(uri) for uri in uris] == [[], [], [("TL101", 6)]]


async def test_a_folder_that_comes_later_has_its_settings(tmp_path):
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        folder.mkdir()
    async with same_editor(folders[0], QUIET) as at:
        at.settings[folders[1].as_uri()] = {**QUIET, "ignore": ["TL101"]}
        uri = at.open("a.py", LOSS)
        assert await at.codes(uri) == [("TL101", 6)]
        at.move_to(folders[1])
        uri = at.open("a.py", LOSS)
        await at.until(lambda: at.published.get(uri) and not at.shown(uri))


async def test_excluded_files_are_left_alone(tmp_path):
    async with same_editor(tmp_path, QUIET) as at:
        inside = at.open(".venv/lib/a.py", LOSS)
        assert await at.codes(at.open("a.py", LOSS))
        assert await at.codes(inside) == []


# Other files

MODEL = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 3)

    def forward(self, x):
        return torch.softmax(self.fc(x), dim=1)
"""
TRAIN = """\
from torch import nn
from model import Net

net = Net()
loss = nn.CrossEntropyLoss()(net(x), y)
"""


async def test_unsaved_text_of_other_files_is_used(tmp_path):
    (tmp_path / "model.py").write_text(MODEL.replace("torch.softmax(self.fc(x), dim=1)", "self.fc(x)"))
    async with same_editor(tmp_path, QUIET) as at:
        train = at.open("train.py", TRAIN)
        assert await at.codes(train) == []
        model = at.open("model.py", MODEL)
        await at.until(lambda: at.shown(train))
        assert at.shown(train)[0].related_information[0].location.uri == model
        at.close(model)
        await at.until(lambda: not at.shown(train))


async def test_files_that_change_on_the_disk_are_read_again(tmp_path):
    model = tmp_path / "model.py"
    model.write_text(MODEL)
    async with same_editor(tmp_path, QUIET) as at:
        train = at.open("train.py", TRAIN)
        assert await at.codes(train) == [("TL101", 4)]
        model.unlink()
        tell_of(at, model)
        await at.until(lambda: not at.shown(train))
        model.write_text(MODEL)
        tell_of(at, model)
        await at.until(lambda: at.shown(train))
