"""Reads the key and the address of an OpenAI-compatible endpoint from the environment."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import SecretStr

from hermes_bot.settings.checked import PointAt
from hermes_bot.settings.models import FileSettings, ModelAccess
from hermes_bot.settings.problems import Problem

API_KEY = "OPENAI_API_KEY"
BASE_URL = "OPENAI_BASE_URL"


def read_model_access(variables: Mapping[str, str]) -> ModelAccess:
    """Return what the variables give."""
    key = variables.get(API_KEY, "")
    return ModelAccess(api_key=SecretStr(key) if key else None, base_url=variables.get(BASE_URL, ""))


def check_model_access(access: ModelAccess, settings: FileSettings, point_at: PointAt) -> list[Problem]:
    """Return what an encoder that is served elsewhere still needs."""
    encoder = settings.encoder
    if encoder.profile != "openai" or access.api_key or encoder.base_url or access.base_url:
        return []
    text = f"encoder.profile openai needs {API_KEY}, or encoder.base_url of a server that wants no key"
    return [point_at(("encoder", "profile"), text)]
