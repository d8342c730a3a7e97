"""What an order book holds, as values: customers, orders with their items, and refunds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


class OrderStatus(StrEnum):
    """Where an order is. UNKNOWN stands for a word that the shop's database uses and Hermes does not know."""

    PLACED = "placed"
    PAID = "paid"
    PACKED = "packed"
    SHIPPED = "shipped"
    DELIVERED = "delivered"
    RETURNED = "returned"
    LOST = "lost"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"

    @classmethod
    def _missing_(cls, value: object) -> OrderStatus:
        return cls.UNKNOWN


class RefundStatus(StrEnum):
    """Where a refund is. A word that Hermes does not know counts as PENDING: money may be on its way."""

    PENDING = "pending"
    ISSUED = "issued"
    FAILED = "failed"

    @classmethod
    def _missing_(cls, value: object) -> RefundStatus:
        return cls.PENDING


@dataclass(frozen=True, slots=True, kw_only=True)
class Customer:
    """Somebody who buys in the shop. `locale` is the shop's word for their language, such as en or zh."""

    id: str
    email: str
    name: str
    locale: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One line of an order. `price_cents` is for one piece."""

    sku: str
    name: str
    quantity: int
    price_cents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """An order. Times are aware, in UTC; `delivered_at` is None and `tracking` empty until there is one."""

    id: str
    customer_id: str
    status: OrderStatus
    placed_at: datetime
    delivered_at: datetime | None
    total_cents: int
    currency: str
    tracking: str
    address: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refund:
    """Money that went back, or is about to. `approval_id` is the approval that allowed it, once."""

    id: int
    order_id: str
    amount_cents: int
    reason: str
    status: RefundStatus
    approval_id: str
    created_at: datetime

    @property
    def counts(self) -> bool:
        """Whether the amount is gone from what can still be refunded."""
        return self.status is not RefundStatus.FAILED


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancelled:
    """An order that was cancelled, with the refund of what was paid, None where nothing was."""

    order_id: str
    currency: str
    refund: Refund | None = None


class ChangeKind(StrEnum):
    """What was changed: the delivery address, a return was opened, an unpaid order cancelled, goods paid back."""

    ADDRESS = "address"
    CANCELLED = "cancelled"
    REFUNDED = "refunded"
    RETURN = "return"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change to an order: the old and the new address, or in `after` the goods that come back or were paid back."""

    id: int
    order_id: str
    kind: ChangeKind
    before: str
    after: str
    change_key: str
    created_at: datetime

    @classmethod
    def of(cls, row: Mapping[Any, Any]) -> Change:
        """Return the change in a row."""
        return cls(**dict(row) | {"kind": ChangeKind(row["kind"])})
