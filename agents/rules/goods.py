"""Which goods of an order a text names. Orders are as tools return them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hermes_bot.tools import goods
from hermes_bot.tools.goods import Wanted
from hermes_bot.tools.order import Item


def goods_in(text: str, items: Iterable[Mapping[str, Any]]) -> tuple[Wanted, ...]:
    """Return the goods of an order that the text names; empty where it names none."""
    return goods.goods_in(text, [Item(**item) for item in items])


def names_goods(text: str, items: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether the text names any of these goods."""
    return goods.names_goods(text, [Item(**item) for item in items])


def names_goods_unclearly(text: str, items: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether the text names more pieces than the order has, or keeps what it also wants to give back."""
    return goods.names_goods_unclearly(text, [Item(**item) for item in items])
