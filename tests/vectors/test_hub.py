import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub
import numpy as np
import pytest
from huggingface_hub.errors import LocalEntryNotFoundError

from x2s.errors import InputError, UnavailableError
from x2s.vectors import WordVectors


@pytest.fixture
def hub(monkeypatch, tmp_path):
    """A hub that is a folder."""
    place = tmp_path / "hub"
    asked = []

    class Api:
        def __init__(self, token=None):
            asked.append(("token", token))

        def create_repo(self, repo_id, *, private=None, exist_ok=False):
            assert exist_ok
            (place / repo_id).mkdir(parents=True, exist_ok=True)
            asked.append(("private", private))

        def upload_folder(self, *, repo_id, folder_path, path_in_repo=None, commit_message=None):
            shutil.copytree(folder_path, place / repo_id / (path_in_repo or "."), dirs_exist_ok=True)
            return SimpleNamespace(commit_url=f"https://hub/{repo_id}/commit/1")

    def snapshot_download(repo_id, *, revision=None, token=None, allow_patterns=None):
        asked.append(("revision", revision))
        asked.append(("patterns", allow_patterns))
        if not (place / repo_id).is_dir():
            raise LocalEntryNotFoundError("no network")
        return str(place / repo_id)

    monkeypatch.setattr(huggingface_hub, "HfApi", Api)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
    return asked


def some(language: str) -> WordVectors:
    return WordVectors(("a", "b"), np.eye(2), language, np.array([2, 1]))


def test_push_and_load(hub):
    assert some("de").push_to_hub("me/vectors", private=True, token="t") == "https://hub/me/vectors/commit/1"
    loaded = WordVectors.from_pretrained("me/vectors", revision="v1")
    assert (loaded.words, loaded.language, loaded.counts.tolist()) == (("a", "b"), "de", [2, 1])
    assert ("private", True) in hub
    assert ("token", "t") in hub
    assert ("revision", "v1") in hub


def test_several_languages_in_one_repository(hub):
    some("de").push_to_hub("me/vectors", subfolder="de")
    some("fi").push_to_hub("me/vectors", subfolder="fi")
    assert WordVectors.from_pretrained("me/vectors", language="fi").language == "fi"
    assert not any("de/" in pattern for kind, value in hub if kind == "patterns" for pattern in value)
    with pytest.raises(InputError, match=r"which language.*de, fi"):
        WordVectors.from_pretrained("me/vectors")
    with pytest.raises(InputError, match=r"none for language 'tr'.*de, fi"):
        WordVectors.from_pretrained("me/vectors", language="tr")


def test_unreachable_hub(hub):
    with pytest.raises(UnavailableError, match="no folder here"):
        WordVectors.from_pretrained("me/absent")


def test_local_folders(tmp_path):
    some("de").save_pretrained(tmp_path / "one")
    some("fi").save(tmp_path / "many" / "fi")
    assert WordVectors.from_pretrained(tmp_path / "one").language == "de"
    assert WordVectors.from_pretrained(tmp_path / "one", language="de").language == "de"
    assert WordVectors.from_pretrained(tmp_path / "many", language="fi").language == "fi"
    with pytest.raises(InputError, match="none for language 'fi'"):
        WordVectors.from_pretrained(tmp_path / "one", language="fi")


def test_the_real_client_accepts_our_arguments():
    """Without a network the real client gets as far as connecting: wrong argument names would be a TypeError."""
    import inspect

    from x2s.vectors import folder

    source = Path(folder.__file__).read_text()
    for function, used in (
        (huggingface_hub.snapshot_download, ("revision", "token", "allow_patterns")),
        (huggingface_hub.HfApi.upload_folder, ("repo_id", "folder_path", "path_in_repo", "commit_message")),
        (huggingface_hub.HfApi.create_repo, ("private", "exist_ok")),
    ):
        parameters = inspect.signature(function).parameters
        assert all(name in parameters and f"{name}=" in source for name in used)


def test_config_names_the_format(tmp_path):
    some("de").save(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    assert (config["format"], config["version"], config["language"]) == ("x2s-word-vectors", 1, "de")
