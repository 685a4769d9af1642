"""The configuration file: one YAML file per run, validated whole before any work starts."""

from x2s.config.explain import explained
from x2s.config.loading import load_config
from x2s.config.schema import Config, FilesSource, HubSource, LexiconConfig, LibreOfficeHelpSource

__all__ = [
    "Config",
    "FilesSource",
    "HubSource",
    "LexiconConfig",
    "LibreOfficeHelpSource",
    "explained",
    "load_config",
]
