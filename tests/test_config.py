"""Configuration files: every shipped one is valid, and mistakes are all told at once."""

from pathlib import Path

import pytest
import yaml

from x2s.config import Config, load_config
from x2s.errors import ConfigError

CONFIGS = sorted((Path(__file__).parent.parent / "configs").glob("*.yaml"))


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "run.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_shipped_configurations_are_valid_and_survive_a_round_trip(path, tmp_path):
    config = load_config(path)
    assert load_config(write(tmp_path, config.to_yaml())) == config


def test_the_shipped_configurations_are_found():
    assert {path.name for path in CONFIGS} == {"demo.yaml", "small.yaml", "paper.yaml"}


def test_the_paper_configuration_names_its_40_languages():
    from x2s.languages import LANGUAGES

    config = load_config(next(path for path in CONFIGS if path.name == "paper.yaml"))
    assert set(config.languages) == set(LANGUAGES)
    assert (config.teacher.model, config.teacher.layer) == ("xlm-roberta-base", 6)
    assert (config.corpus.min_tokens, config.corpus.min_count, config.corpus.max_sentences) == (7, 10, 1_000_000)


BAD = """\
outptu: runs/bad
languages: [en, xqz, german, no]
teacher:
  layr: 6
  dtype: float33
  max_subwords: -3
corpus:
  source: {kind: file}
  min_tokens: seven
static:
  methods: [aggregated, x2statik]
evaluate:
  lexicons:
    - format: muse
"""


def test_all_mistakes_are_told_at_once_with_line_path_and_nearest_name(tmp_path):
    with pytest.raises(ConfigError) as caught:
        load_config(write(tmp_path, BAD))
    message = str(caught.value)
    for part in (
        "output: missing",
        "line 1: outptu: unknown name - did you mean output?",
        "line 2: languages.1:",
        "line 2: languages.2:",
        'line 2: languages.3: YAML reads an unquoted no as False; write "no" for Norwegian',
        "line 4: teacher.layr: unknown name - did you mean layer?",
        "did you mean float32?",
        "line 6: teacher.max_subwords:",
        "corpus.source.kind: unknown kind 'file' - did you mean files?",
        "line 9: corpus.min_tokens:",
        "static.methods.1:",
        "did you mean x2static?",
        "evaluate.lexicons.0: format muse needs path",
    ):
        assert part in message, message
    assert caught.value.exit_code == 2


GOOD = {
    "output": "runs/x",
    "languages": ["en", "de"],
    "corpus": {"source": {"kind": "files", "paths": "texts/{language}/*.txt"}},
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"hub": "fr"}, "hub: fr is not among languages"),
        ({"languages": ["en", "de", "de"]}, "listed twice: de"),
        ({"align": {"result": "x2static", "methods": ["combined"]}}, "x2static is not among the aligned methods"),
        ({"static": {"methods": ["aggregated"]}}, "combined is not among the aligned methods"),
        ({"static": {"start": "aggregated"}}, "needs epochs: 2 or more"),
        ({"align": {"mode": "supervised"}}, "needs a pattern of training dictionaries"),
        ({"corpus": {"source": {"kind": "files", "paths": "texts/*.txt"}}}, "needs {language} in it"),
        ({"corpus": {"source": {"kind": "files", "paths": {"en": "a.txt"}}}}, "no files for language de"),
        ({"corpus": {"source": {"paths": "a"}}}, "corpus.source.kind: missing"),
        ({"corpus": {**GOOD["corpus"], "segmenter": {"th": "icu"}}}, "th is not in languages"),
        ({"languages": []}, "languages: "),
        ({"languages": ["en", "de", "deu"]}, "listed twice: de"),
        ({"corpus": {**GOOD["corpus"], "min_tokens": 10, "max_tokens": 5}}, "max_tokens: 5 is less than min_tokens"),
        ({"evaluate": {"ks": []}}, "evaluate.ks: "),
        ({"evaluate": {"ks": [0]}}, "evaluate.ks.0: "),
        ({"evaluate": {"lexicons": [{"format": "muse", "path": "{source}-{x}"}]}}, "only {source} and {target}"),
        ({"align": {"dictionary": "d.txt"}}, "needs {source} and {target} in it"),
        ({"align": {"anchor": 0.3}}, "only a rotation can be anchored"),
    ],
)
def test_inconsistent_settings(tmp_path, change, message):
    with pytest.raises(ConfigError, match=None) as caught:
        load_config(write(tmp_path, yaml.safe_dump(GOOD | change)))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a: [1, 2", "not valid YAML"),
        (b"just words", "expected 'key: value' lines"),
        (b"", "expected 'key: value' lines"),
        (b"a: \xff", "expected UTF-8"),
    ],
)
def test_files_that_are_no_configuration(tmp_path, content, message):
    path = tmp_path / "run.yaml"
    path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_missing_file_names_those_beside_it(tmp_path):
    write(tmp_path, "")
    with pytest.raises(ConfigError) as caught:
        load_config(tmp_path / "rum.yaml")
    assert "run.yaml" in str(caught.value)


def test_patterns_of_one_language():
    config = Config.model_validate(GOOD)
    assert config.corpus.source.patterns("de") == ["texts/de/*.txt"]
    assert config.others == ("de",)


def test_every_key_is_explained():
    from x2s.config import explained

    keys = {key.name: key for key in explained()}
    assert keys["corpus.min_tokens"].default == "7"
    assert keys["output"].default == "required"
    assert keys["corpus.source(files).paths"].meaning
    assert keys["evaluate.lexicons.format"].values == "freedict | muse | xling | panlex"
    assert not [key.name for key in keys.values() if not key.meaning and not key.name.endswith(("kind", "format"))]
    assert {key.name for key in explained("static.")} == {name for name in keys if name.startswith("static.")}


def test_a_key_given_twice_is_a_mistake(tmp_path):
    with pytest.raises(ConfigError, match="line 4: seed: given twice, first in line 3"):
        load_config(write(tmp_path, "output: x\nlanguages: [en]\nseed: 1\nseed: 2\ncorpus: {source: {kind: hub}}\n"))


def test_other_names_of_a_language_become_its_code():
    assert Config.model_validate(GOOD | {"languages": ["eng", "deu"]}).languages == ("en", "de")
