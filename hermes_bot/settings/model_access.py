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
    """Return what an encoder or a model that is served elsewhere still needs."""
    if access.api_key or access.base_url:
        return []
    found, encoder, model = [], settings.encoder, settings.model
    if encoder.profile == "openai" and not encoder.base_url:
        text = f"encoder.profile openai needs {API_KEY}, or encoder.base_url of a server that wants no key"
        found.append(point_at(("encoder", "profile"), text))
    if model.name and not model.base_url:
        text = f"model.name needs {API_KEY}, or model.base_url of a server that wants no key"
        found.append(point_at(("model", "name"), text))
    return found
