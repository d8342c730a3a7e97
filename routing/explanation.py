"""A choice in words that an admin can act on: what decided, how sure, and what would have to change."""

from __future__ import annotations

from routing.choice import RouteChoice, RuleHit


def explain_text(choice: RouteChoice) -> str:
    """Return a few lines of plain text, without the customer's own words beyond what a rule matched."""
    parts = [_headline(choice), *_scores(choice), *_neighbours(choice), *_rules(choice), *_remedies(choice)]
    return "\n".join(part for part in parts if part)


def why_line(choice: RouteChoice) -> str:
    """Return the same in one line, for a ticket: what decided, the score against its threshold, the nearest example."""
    if choice.reason == "keyword":
        return f"keyword rule, hit on: {choice.matched}"
    if not choice.scores:
        return "no words to go by"
    best, score = _ranked(choice)[0]
    near = choice.neighbours[0] if choice.neighbours else None
    example = f"; nearest example ({near.route}, cosine {near.cosine:.2f}): {near.utterance}" if near else ""
    if choice.reason == "other":
        return f"like what no agent takes ({score:.2f}){example}"
    sign = "≥" if choice.reason == "similarity" else "<"
    return f"{best} by similarity ({score:.2f} {sign} {choice.threshold:.2f}){example}"


def _headline(choice: RouteChoice) -> str:
    target = f"route {choice.route!r}" if choice.route else "nobody"
    if choice.reason == "keyword":
        return f"{target} ({choice.type}), by a keyword rule that hit on: {choice.matched}"
    if choice.reason == "similarity":
        return (
            f"{target} ({choice.type}), by similarity: probability {_number(choice.score)} "
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
    return f"{target} ({choice.type}): it is most like what no agent takes, probability {_number(choice.score)}"


def _ranked(choice: RouteChoice) -> list[tuple[str, float]]:
    return sorted(choice.scores.items(), key=lambda item: -item[1])


def _number(probability: float) -> str:
    """Return a probability with two digits, or three where two would make it look certain."""
    return f"{probability:.2f}" if probability < 0.995 else f"{min(probability, 0.999):.3f}"


def _scores(choice: RouteChoice) -> list[str]:
    if not choice.scores:
        return []
    return ["probabilities: " + ", ".join(f"{name} {_number(score)}" for name, score in _ranked(choice))]


def _neighbours(choice: RouteChoice) -> list[str]:
    if not choice.neighbours:
        return []
    lines = [f"  {near.cosine:.2f}  {near.route}: {near.utterance}" for near in choice.neighbours]
    return ["nearest examples (cosine):", *lines]


def _rules(choice: RouteChoice) -> list[str]:
    """Return the rules that hit beside the one that decided, and those that a word silences."""
    lines = [
        f"  {hit.route}: {hit.matched}" + (f", silenced by: {hit.silenced_by}" if hit.silenced_by else "")
        for hit in choice.rules
        if hit != _deciding(choice)
    ]
    return ["rules that hit and do not count:", *lines] if lines else []


def _deciding(choice: RouteChoice) -> RuleHit | None:
    """Return the rule that took the text."""
    return next((hit for hit in choice.rules if not hit.silenced_by), None)


def _remedies(choice: RouteChoice) -> list[str]:
    """Return what would have to change for another answer, the nearest ways first."""
    ways = [*_by_rules(choice), *(_by_rule_alone(choice) if choice.reason == "keyword" else _by_scores(choice))]
    if len(ways) == 1:
        return [f"to change this: {ways[0]}"]
    return ["to change this, one of these:", *(f"  - {way}" for way in ways)]


def _by_rules(choice: RouteChoice) -> list[str]:
    """Return which route would take the text if a word of a rule's `none` did not stand in it."""
    deciding = _deciding(choice)
    first = deciding.route if deciding else None
    silenced = [hit for hit in choice.rules if hit.silenced_by and hit.route != first]
    return [
        f"without {hit.silenced_by!r} in the text, or under none of that rule, a rule of {hit.route!r} would hit"
        for hit in silenced
    ]


def _by_rule_alone(choice: RouteChoice) -> list[str]:
    """Return what would take the text if the deciding rule did not hit."""
    ways = ["narrow that rule (a word under none), or raise another route's priority above it"]
    rest = [hit for hit in choice.rules if not hit.silenced_by and hit.route != choice.rules[0].route]
    if rest:
        ways.append(f"without that rule, one of {rest[0].route!r} would take it, which hit on: {rest[0].matched}")
    elif choice.scores:
        best, score = _ranked(choice)[0]
        ways.append(f"without that rule similarity would decide; it finds {best!r} with {score:.2f}")
    return ways


def _by_scores(choice: RouteChoice) -> list[str]:
    """Return which scores are missing for another answer."""
    if not choice.scores:
        return ["only a keyword rule can take such a text"]
    ranked = _ranked(choice)
    best, score = ranked[0]
    ways = []
    if choice.reason == "below threshold":
        ways.append(
            f"{best!r} needs {choice.threshold - score:.2f} more: add an utterance like the text to it, or set its "
            f"score_threshold to {int(score * 100) / 100:.2f} or less"
        )
    else:
        if choice.reason == "similarity":
            ways.append(f"with a score_threshold above {_number(score)} {best!r} would lose it to nobody")
        ways.append("add an utterance like the text to the route that should take it")
    if len(ranked) > 1:
        second, other = ranked[1]
        ways.append(f"{second!r} is the next in line with {other:.2f}; it would have to gain {score - other:.2f}")
    return ways
