"""Everything that the shop allows, read from `configs/policies.yaml`."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from hermes_bot.settings.checked import checked
from hermes_bot.settings.yaml_file import read_yaml
from hermes_bot.tools.order import OrderStatus
from hermes_bot.tools.order_policy import CancelPolicy, ReturnPolicy, StatesPolicy
from hermes_bot.tools.refund_policy import RefundPolicy

MARK_CHARACTERS = 8

_State = Literal["placed", "paid", "packed", "shipped", "delivered", "returned", "lost", "cancelled"]
_States = Annotated[list[_State], Field(min_length=1)]
_Currency = Annotated[str, Field(pattern=r"^[A-Z]{3}$")]
_Limits = dict[_Currency, Annotated[int, Field(ge=0)]]
_Days = Annotated[int, Field(ge=0, le=3650)]
_Matter = Literal["dispute", "exchange"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Policies:
    """The shop's rules. `version` names the file's version and its content: "2026-11+1f0c9a3e".

    `to_people` are matters that a person decides in any case.
    """

    version: str
    refund: RefundPolicy
    cancel: CancelPolicy
    address: StatesPolicy
    returns: ReturnPolicy
    invoice: StatesPolicy
    to_people: frozenset[str]


class _Keys(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _RefundKeys(_Keys):
    window_days: _Days
    states: _States
    max_cents: _Limits
    payout_days: _Days | None = None


class _CancelKeys(_Keys):
    states: _States = ["placed", "paid", "packed"]
    max_cents: _Limits = {}


class _AddressKeys(_Keys):
    states: _States = ["placed", "paid", "packed"]


class _ReturnKeys(_Keys):
    states: _States = ["delivered"]
    window_days: _Days = 30
    send_back_days: _Days = 14


class _InvoiceKeys(_Keys):
    states: _States = ["paid", "packed", "shipped", "delivered", "returned", "lost"]


class _PolicyKeys(_Keys):
    version: Annotated[str, Field(max_length=40)] = "1"
    refund: _RefundKeys
    cancel: _CancelKeys = _CancelKeys()
    address: _AddressKeys = _AddressKeys()
    returns: _ReturnKeys = _ReturnKeys()
    invoice: _InvoiceKeys = _InvoiceKeys()
    to_people: list[_Matter] = ["dispute", "exchange"]


def read_policies(path: Path) -> Policies:
    """Return the policies in the file; raise SettingsError that names file, line and key of everything wrong in it.

    A section that is left out has the values of the file that Hermes ships.
    """
    keys = checked(_PolicyKeys, read_yaml(path))
    mark = hashlib.sha256(keys.model_dump_json().encode()).hexdigest()[:MARK_CHARACTERS]
    return Policies(
        version=f"{keys.version}+{mark}",
        refund=RefundPolicy(
            window_days=keys.refund.window_days,
            states=_states(keys.refund.states),
            max_cents=dict(keys.refund.max_cents),
            payout_days=keys.refund.payout_days,
        ),
        cancel=CancelPolicy(states=_states(keys.cancel.states), max_cents=dict(keys.cancel.max_cents)),
        address=StatesPolicy(states=_states(keys.address.states)),
        returns=ReturnPolicy(
            states=_states(keys.returns.states),
            window_days=keys.returns.window_days,
            send_back_days=keys.returns.send_back_days,
        ),
        invoice=StatesPolicy(states=_states(keys.invoice.states)),
        to_people=frozenset(keys.to_people),
    )


def _states(names: list[_State]) -> frozenset[OrderStatus]:
    return frozenset(OrderStatus(name) for name in names)
