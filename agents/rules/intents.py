"""What a customer wants of the order or the refund agent, read from their words alone."""

from __future__ import annotations

from enum import StrEnum

from agents.rules import patterns
from agents.words import plain


class OrderWish(StrEnum):
    """What can be wanted of an order."""

    CANCEL = "cancel"
    ADDRESS = "address"
    INVOICE = "invoice"
    LIST = "list"
    MISSING = "missing"
    HURRY = "hurry"
    CONTENTS = "contents"
    MODIFY = "modify"
    WRONG_GOODS = "wrong_goods"
    TRACKING = "tracking"
    STATUS = "status"


class RefundWish(StrEnum):
    """What can be wanted of the refund agent."""

    DISPUTE = "dispute"
    EXCHANGE = "exchange"
    STATUS = "status"
    RETURN = "return"
    REFUND = "refund"


class Rule(StrEnum):
    """A rule of the shop that can be asked about without an order."""

    PAYOUT = "payout"
    RETURNS = "returns"
    REFUND = "refund"
    CANCEL = "cancel"
    ADDRESS = "address"
    INVOICE = "invoice"


_ORDER_WISHES = (
    (OrderWish.ADDRESS, patterns.ADDRESS),
    (OrderWish.INVOICE, patterns.INVOICE),
    (OrderWish.LIST, patterns.LIST),
    (OrderWish.MISSING, patterns.MISSING),
    (OrderWish.WRONG_GOODS, patterns.WRONG_GOODS),
    (OrderWish.TRACKING, patterns.TRACKING),
    (OrderWish.MODIFY, patterns.MODIFY),
    (OrderWish.CONTENTS, patterns.CONTENTS),
    (OrderWish.HURRY, patterns.HURRY),
)

_REFUND_WISHES = (
    (RefundWish.DISPUTE, patterns.DISPUTE),
    (RefundWish.EXCHANGE, patterns.EXCHANGE),
    (RefundWish.STATUS, patterns.REFUND_STATUS),
    (RefundWish.REFUND, patterns.MONEY_BACK),
    (RefundWish.RETURN, patterns.RETURN),
    (RefundWish.REFUND, patterns.GOES_BACK),
)

_ASKS_FOR_ORDER = frozenset(
    {OrderWish.CANCEL, OrderWish.ADDRESS, OrderWish.MODIFY, OrderWish.TRACKING, OrderWish.LIST, OrderWish.INVOICE}
)


def order_wish(text: str) -> OrderWish | None:
    """Return what the text wants of an order; None where it says no more than which one."""
    flat = plain(text)
    found = next((wish for wish, pattern in _ORDER_WISHES if pattern.search(flat)), None)
    if found is OrderWish.ADDRESS:
        return found
    wants = patterns.CANCEL.search(flat) and not patterns.WAS_CANCELLED.search(flat)
    if wants and not patterns.NO_CANCEL.search(flat):
        return OrderWish.CANCEL
    return found


def refund_wish(text: str) -> RefundWish | None:
    """Return what the text wants of the refund agent; None where it says no more than which order."""
    flat = plain(text)
    declines = patterns.NO_REFUND.search(flat) is not None
    declined = {RefundWish.REFUND, RefundWish.STATUS} if declines else set()
    found = next((wish for wish, pattern in _REFUND_WISHES if wish not in declined and pattern.search(flat)), None)
    if found is RefundWish.STATUS and patterns.ASKS_FOR_MONEY.search(flat) and not patterns.STILL_WAITS.search(flat):
        return RefundWish.REFUND  # "a refund, it arrived broken": what arrived is not the money
    asks = found is RefundWish.STATUS and bool(patterns.RETURN.search(flat)) and not patterns.MONEY_BACK.search(flat)
    return RefundWish.RETURN if asks else found


def asks_for_money(text: str) -> bool:
    """Return whether the text says in so many words that money is to go back."""
    return bool(patterns.MONEY_BACK.search(plain(text)))


def takes_back(text: str) -> bool:
    """Return whether the text says that a refund or a cancellation is not wanted."""
    flat = plain(text)
    return bool(patterns.NO_REFUND.search(flat) or patterns.NO_CANCEL.search(flat))


def only_asks(text: str) -> bool:
    """Return whether the text asks whether or how something is possible, and does not ask for it."""
    return bool(patterns.ONLY_ASKS.search(plain(text)))


def rule_asked(text: str, *, in_talk: bool, agent: str) -> Rule | None:
    """Return the rule that the text asks about, None where it asks about an order or for something.

    `in_talk`: an order was spoken of before, so that a short question is about that one.
    """
    flat = plain(text)
    if not patterns.ASKS.search(flat):
        return None
    if patterns.PAYOUT.search(flat):
        return Rule.PAYOUT
    generic = patterns.GENERIC.search(flat) and not patterns.OWN.search(flat)
    if not (generic or patterns.NAMES_RULE.search(flat)) and (in_talk or patterns.POINTS.search(flat)):
        return None
    if agent == "refund":
        if refund_wish(text) in (RefundWish.EXCHANGE, RefundWish.DISPUTE):
            return None
        return Rule.RETURNS if patterns.RETURN.search(flat) and not patterns.MONEY_BACK.search(flat) else Rule.REFUND
    wish = order_wish(text)
    return Rule(wish) if wish in (OrderWish.CANCEL, OrderWish.ADDRESS, OrderWish.INVOICE) else None


def changes_an_order(text: str) -> bool:
    """Return whether the text wants an order cancelled, sent elsewhere or made another one."""
    return order_wish(text) in (OrderWish.CANCEL, OrderWish.ADDRESS, OrderWish.MODIFY)


def leaning(text: str) -> str:
    """Return `order` or `refund` where the words clearly want something of that agent alone, or nothing."""
    order, refund = order_wish(text), refund_wish(text)
    if refund in (RefundWish.EXCHANGE, RefundWish.DISPUTE):
        return "refund"
    wants_order = order in _ASKS_FOR_ORDER
    if wants_order == (refund is not None):
        return ""
    return "order" if wants_order else "refund"
