"""A choice in words that an admin can act on: what decided, how sure, and what would have to change."""

from __future__ import annotations

from routing.choice import RouteChoice


def explain_text(choice: RouteChoice) -> str:
    """Return a few lines of plain text, without the customer's own words beyond what a rule matched."""
    parts = [_headline(choice), *_scores(choice), *_neighbours(choice), _remedy(choice)]
    return "\n".join(part for part in parts if part)


def _headline(choice: RouteChoice) -> str:
    target = f"route {choice.route!r}" if choice.route else "nobody"
    if choice.reason == "keyword":
        return f"{target} ({choice.type}), by a keyword rule that hit on: {choice.matched}"
    if choice.reason == "similarity":
        return (
            f"{target} ({choice.type}), by similarity: probability {choice.score:.2f} "
            f"reaches the threshold {choice.threshold:.2f}"
        )
    if choice.reason == "below threshold":
        best = _ranked(choice)[0][0]
        return (
            f"{target} ({choice.type}): the best route is {best!r}, but its probability {choice.score:.2f} "
            f"stays below the threshold {choice.threshold:.2f}"
        )
    if not choice.scores:
        return f"{target} ({choice.type}): the text has no words to go by"
    return f"{target} ({choice.type}): it is most like what no agent takes, probability {choice.score:.2f}"


def _ranked(choice: RouteChoice) -> list[tuple[str, float]]:
    return sorted(choice.scores.items(), key=lambda item: -item[1])


def _scores(choice: RouteChoice) -> list[str]:
    if not choice.scores:
        return []
    return ["probabilities: " + ", ".join(f"{name} {score:.2f}" for name, score in _ranked(choice))]


def _neighbours(choice: RouteChoice) -> list[str]:
    if not choice.neighbours:
        return []
    lines = [f"  {near.cosine:.2f}  {near.route}: {near.utterance}" for near in choice.neighbours]
    return ["nearest examples (cosine):", *lines]


def _remedy(choice: RouteChoice) -> str:
    """Return what an admin could do to get another answer."""
    if choice.reason == "keyword":
        return "to change this: narrow that rule (a word under none), or raise another route's priority above it"
    if choice.reason == "below threshold":
        return (
            "to change this: add an utterance like the text to the right route, or set that route's score_threshold "
            f"to {choice.score:.2f} or less"
        )
    if choice.reason == "similarity":
        rivals = [item for item in _ranked(choice) if item[0] != choice.route]
        second = f"; the next in line is {rivals[0][0]!r} with {rivals[0][1]:.2f}" if rivals else ""
        return f"to change this: add an utterance like the text to the right route{second}"
    if not choice.scores:
        return "to change this: only a keyword rule can take such a text"
    return "to change this: add an utterance like the text to the route that should take it"
