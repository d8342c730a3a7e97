"""Topic patterns with RabbitMQ's meaning: words parted by dots, `*` is one word, `#` is none or more.

https://www.rabbitmq.com/tutorials/tutorial-five-python. The patterns stand in a trie, which is walked once per
topic as a set of states: the cost depends on the topic's words, not on how many patterns there are, and many `#`
do not multiply it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar

Value = TypeVar("Value")

CACHE_SIZE = 10_000


class _Node(Generic[Value]):
    """A place in the trie; `loops` marks the node after a `#`, which swallows any word and stays."""

    __slots__ = ("children", "loops", "values")

    def __init__(self, *, loops: bool = False) -> None:
        self.children: dict[str, _Node[Value]] = {}
        self.values: dict[Value, int] = {}
        self.loops = loops


class Topics(Generic[Value]):
    """A table from patterns to values, asked by topic."""

    def __init__(self) -> None:
        self._root: _Node[Value] = _Node()
        self._cache: dict[str, tuple[Value, ...]] = {}
        self._added = 0

    def add(self, pattern: str, value: Value) -> None:
        """Bind `value` to `pattern`; adding it twice changes nothing."""
        node = self._root
        for word in pattern.split("."):
            node = node.children.setdefault(word, _Node(loops=word == "#"))
        self._added += 1
        node.values.setdefault(value, self._added)
        self._cache.clear()

    def remove(self, pattern: str, value: Value) -> None:
        """Undo `add`; unknown pairs are ignored."""
        path = [self._root]
        words = pattern.split(".")
        for word in words:
            if word not in path[-1].children:
                return
            path.append(path[-1].children[word])
        path[-1].values.pop(value, None)
        for parent, word in zip(reversed(path[:-1]), reversed(words), strict=True):
            node = parent.children[word]
            if node.values or node.children:
                break
            del parent.children[word]
        self._cache.clear()

    def match(self, topic: str) -> tuple[Value, ...]:
        """Return the values whose pattern matches `topic`, each once, in the order they were added."""
        found = self._cache.get(topic)
        if found is None:
            if len(self._cache) >= CACHE_SIZE:
                self._cache.clear()
            found = self._cache[topic] = self._walk(topic)
        return found

    def _walk(self, topic: str) -> tuple[Value, ...]:
        states = _with_empty_hashes([self._root])
        for word in topic.split("."):
            following: list[_Node[Value]] = []
            for node in states:
                if node.loops:
                    following.append(node)
                following.extend(node.children[step] for step in {word, "*"} if step in node.children)
            states = _with_empty_hashes(following)
        order: dict[Value, int] = {}
        for node in states:
            for value, added in node.values.items():
                order[value] = min(added, order.get(value, added))
        return tuple(sorted(order, key=order.__getitem__))


def _with_empty_hashes(nodes: Iterable[_Node[Value]]) -> set[_Node[Value]]:
    """Return the nodes and those reached from them through a `#` that stands for no word."""
    reached: set[_Node[Value]] = set()
    for start in nodes:
        node: _Node[Value] | None = start
        while node is not None and node not in reached:
            reached.add(node)
            node = node.children.get("#")
    return reached
