"""The documents keep their word: links lead somewhere, configurations parse, Python compiles, commands exist."""

import re
from pathlib import Path

import pytest
import yaml
from typer.main import get_command

from x2s.cli import app
from x2s.config import Config

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])


def blocks(text: str, kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", text, re.M | re.S)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_relative_links_lead_somewhere(path: Path) -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", path.read_text(encoding="utf-8"))
    missing = [link for link in links if "://" not in link and not (path.parent / link.partition("#")[0]).exists()]
    assert missing == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_python_in_documents_compiles(path: Path) -> None:
    for code in blocks(path.read_text(encoding="utf-8"), "python"):
        compile(code, path.name, "exec")


def test_configuration_in_the_readme_is_valid() -> None:
    (text,) = blocks((ROOT / "README.md").read_text(encoding="utf-8"), "yaml")
    assert Config.model_validate(yaml.safe_load(text)).languages == ("en", "de", "sw")


def test_commands_in_the_readme_exist() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    known = get_command(app).commands  # type: ignore[attr-defined]
    named = set(re.findall(r"x2s ([a-z]+)", " ".join(re.findall(r"^x2s .*|`x2s [^`]*`", text, re.M))))
    assert named and named <= set(known)


def test_citation_is_yaml_of_the_citation_format() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["cff-version"] == "1.2.0"
    assert citation["references"][0]["doi"] == "10.18653/v1/2022.findings-acl.182"
