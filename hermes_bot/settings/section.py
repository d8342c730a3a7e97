"""What every section of a settings file has in common, and the kinds of values that several hold."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, Strict, model_validator

Count = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0, le=1_000_000_000)]
Words = Annotated[tuple[str, ...], Strict(strict=False)]
Port = Annotated[int, Field(ge=0, le=65535)]


class Section(BaseModel):
    """A mapping in a settings file: frozen, no unknown keys, no silent conversions; an empty one means defaults."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _empty_means_defaults(cls, data: Any) -> Any:
        return {} if data is None else data
