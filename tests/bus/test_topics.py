from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.bus.topics import Topics

WORDS = st.sampled_from(["a", "b", "ticket", ""])
PATTERN_WORDS = st.sampled_from(["a", "b", "ticket", "", "*", "#"])
TOPICS = st.lists(WORDS, min_size=1, max_size=6).map(".".join)
PATTERNS = st.lists(PATTERN_WORDS, min_size=1, max_size=6).map(".".join)


def reference(pattern: list[str], topic: list[str]) -> bool:
    """Say what RabbitMQ's rules say, word by word."""
    if not pattern:
        return not topic
    if pattern[0] == "#":
        return reference(pattern[1:], topic) or bool(topic and reference(pattern, topic[1:]))
    return bool(topic) and pattern[0] in ("*", topic[0]) and reference(pattern[1:], topic[1:])


@given(st.lists(PATTERNS, max_size=12, unique=True), st.lists(TOPICS, min_size=1, max_size=5))
def test_the_trie_agrees_with_the_rules_for_every_pattern_and_topic(patterns: list[str], topics: list[str]) -> None:
    table: Topics[str] = Topics()
    for pattern in patterns:
        table.add(pattern, pattern)

    for topic in topics * 2:  # the second time from the cache
        matching = [pattern for pattern in patterns if reference(pattern.split("."), topic.split("."))]
        assert list(table.match(topic)) == matching


@given(st.lists(PATTERNS, min_size=1, max_size=12, unique=True), st.data())
def test_a_removed_pattern_matches_no_more_and_the_others_still_do(patterns: list[str], data: st.DataObject) -> None:
    removed = data.draw(st.sets(st.sampled_from(patterns)))
    topic = data.draw(TOPICS)
    table: Topics[str] = Topics()
    for pattern in patterns:
        table.add(pattern, pattern)
    table.match(topic)
    for pattern in removed:
        table.remove(pattern, pattern)

    kept = [pattern for pattern in patterns if pattern not in removed]
    assert list(table.match(topic)) == [p for p in kept if reference(p.split("."), topic.split("."))]


def test_a_value_bound_by_several_patterns_is_found_once() -> None:
    table: Topics[str] = Topics()
    for pattern in ("ticket.*", "ticket.#", "#"):
        table.add(pattern, "entry")

    assert table.match("ticket.created") == ("entry",)


def test_removing_what_was_never_added_changes_nothing() -> None:
    table: Topics[str] = Topics()
    table.add("ticket.*", "entry")
    table.remove("ticket.*.x", "entry")
    table.remove("ticket.*", "order")

    assert table.match("ticket.created") == ("entry",)


def test_many_hashes_do_not_multiply_the_walk() -> None:
    table: Topics[str] = Topics()
    table.add(".".join(["#", "a"] * 40), "many")

    assert table.match(".".join(["a"] * 200)) == ("many",)
