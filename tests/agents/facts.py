"""Reads numbers, days, amounts and states back out of what the bot says, and holds them against the order book."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from agents.texts import Texts
from hermes_bot.messages.payloads import Reply
from hermes_bot.tools.order import Change, Order, OrderStatus, Refund
from hermes_bot.tools.order_book import OrderBook
from hermes_bot.tools.policies import Policies

MONEY = re.compile(r"(?:US\$|CN¥|[€$£¥])\s?\d[\d.,]*\d")
DAY = re.compile(
    r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December) \d{1,2}, \d{4}"
    r"|\d{4}年\d{1,2}月\d{1,2}日"
)
NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Everything about one customer that an answer may say."""

    orders: Sequence[Order]
    refunds: Sequence[Refund]
    changes: Sequence[Change]
    policies: Policies
    texts: Texts

    @classmethod
    async def of(cls, customer_id: str, book: OrderBook, policies: Policies, texts: Texts) -> Facts:
        """Return the facts as the order book has them now."""
        orders = await book.recent_orders(customer_id, 100)
        refunds = [refund for order in orders for refund in await book.refunds(customer_id, order.id)]
        changes = [change for order in orders for change in await book.changes(customer_id, order.id)]
        return cls(orders=orders, refunds=refunds, changes=changes, policies=policies, texts=texts)

    def unfounded(self, replies: Iterable[Reply], language: str) -> list[str]:
        """Return the amounts, days, numbers and states in these replies that stand nowhere."""
        found: list[str] = []
        for reply in replies:
            said = "\n".join([reply.text, *(value for _, value in reply.fields), *(c.label for c in reply.choices)])
            found += self._unfounded_in(said, language)
        return found

    def _unfounded_in(self, said: str, language: str) -> list[str]:
        known_words = [value for order in self.orders for value in (order.tracking, order.address) if value]
        for word in sorted(known_words, key=len, reverse=True):
            said = said.replace(word, " ")
        amounts = set(MONEY.findall(said)) - self._amounts(language)
        rest = MONEY.sub(" ", said)
        days = set(DAY.findall(rest)) - self._days(language)
        numbers = set(NUMBER.findall(DAY.sub(" ", rest))) - self._numbers()
        return [*amounts, *days, *numbers, *self._states(said, language)]

    def _amounts(self, language: str) -> set[str]:
        """The amounts of orders, lines and refunds, what is left, and what the policy names."""
        refunded = {order.id: 0 for order in self.orders}
        for refund in self.refunds:
            refunded[refund.order_id] += refund.amount_cents if refund.counts else 0
        cents = [(refund.amount_cents, self._currency(refund.order_id)) for refund in self.refunds]
        for order in self.orders:
            cents += [(order.total_cents, order.currency), (order.total_cents - refunded[order.id], order.currency)]
            cents += [
                (item.price_cents * n, order.currency) for item in order.items for n in range(1, item.quantity + 1)
            ]
        return {self.texts.money(language, each, currency) for each, currency in cents}

    def _days(self, language: str) -> set[str]:
        policies = self.policies
        moments: list[datetime | None] = [refund.created_at for refund in self.refunds]
        for order in self.orders:
            start = order.delivered_at or order.placed_at
            moments += [order.placed_at, order.delivered_at, start + timedelta(days=policies.refund.window_days)]
            moments.append(policies.returns.until(order))
        for change in self.changes:
            moments += [change.created_at, policies.returns.send_back_by(change.created_at)]
        return {self.texts.day(language, moment) for moment in moments}

    def _numbers(self) -> set[str]:
        """Order numbers, quantities, what stands in names, and the policy's days."""
        known = [order.id for order in self.orders]
        known += [str(n) for order in self.orders for item in order.items for n in range(1, item.quantity + 1)]
        known += [item.name + item.sku for order in self.orders for item in order.items]
        policies = self.policies
        known += [str(policies.refund.window_days), str(policies.refund.payout_days)]
        known += [str(policies.returns.window_days), str(policies.returns.send_back_days)]
        return set(NUMBER.findall(" ".join(known)))

    def _states(self, said: str, language: str) -> list[str]:
        """Return sentences that give an order a state which is not its own."""
        wrong = []
        for order in self.orders:
            for status in set(OrderStatus) - {order.status}:
                sentence = self.texts.render(
                    language,
                    f"order.state.{status}",
                    order_id=order.id,
                    placed_at=order.placed_at,
                    delivered_at=order.delivered_at,
                )
                wrong += [sentence] if sentence in said else []
        return wrong

    def _currency(self, order_id: str) -> str:
        return next(order.currency for order in self.orders if order.id == order_id)
