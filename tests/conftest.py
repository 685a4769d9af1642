"""Fixtures that several rooms share."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def x2s_data() -> Path:
    """The folder of real test sets; tests that need it are marked `data` and say why they are skipped."""
    folder = os.environ.get("X2S_DATA")
    if not folder:
        pytest.skip("X2S_DATA is unset: this test reads the real test sets in the folder that it names")
    path = Path(folder)
    if not path.is_dir():
        pytest.fail(f"X2S_DATA={folder} is not a folder")
    return path


@pytest.fixture(scope="session")
def tiny_encoder_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A script-built XLM-R of 4 layers and 32 dimensions with a trained fast tokenizer."""
    from tests.tiny_model import build_tiny_encoder

    return build_tiny_encoder(tmp_path_factory.mktemp("encoder") / "tiny-xlm-r")
