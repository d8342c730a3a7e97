from pathlib import Path

import pytest

from hermes_bot.errors import SettingsError
from hermes_bot.tools.order import OrderStatus
from hermes_bot.tools.policies import read_policies

SHIPPED = Path(__file__).parents[2] / "configs" / "policies.yaml"
SMALL = "refund:\n  window_days: 14\n  states: [delivered]\n  max_cents: {EUR: 100}\n"


def written(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "policies.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_file_with_refunds_alone_has_the_shipped_rules_for_the_rest(tmp_path: Path) -> None:
    own, shipped = read_policies(written(tmp_path, SMALL)), read_policies(SHIPPED)

    assert own.refund.window_days == 14
    assert own.refund.payout_days is None
    assert (own.cancel, own.address, own.returns, own.invoice) == (
        shipped.cancel,
        shipped.address,
        shipped.returns,
        shipped.invoice,
    )
    assert own.to_people == {"dispute", "exchange"}


def test_the_version_changes_with_every_rule_and_with_no_comment(tmp_path: Path) -> None:
    named = f'version: "7"\n{SMALL}'
    first = read_policies(written(tmp_path, named)).version
    commented = read_policies(written(tmp_path, f"# a remark\n{named}")).version
    changed = read_policies(written(tmp_path, named.replace("14", "15"))).version

    assert first.startswith("7+")
    assert commented == first
    assert changed != first


def test_states_and_days_are_read(tmp_path: Path) -> None:
    more = "cancel: {states: [placed]}\nreturns: {window_days: 5, send_back_days: 3}\nto_people: []\n"
    policies = read_policies(written(tmp_path, SMALL + more))

    assert policies.cancel.states == {OrderStatus.PLACED}
    assert (policies.returns.window_days, policies.returns.send_back_days) == (5, 3)
    assert policies.to_people == frozenset()


@pytest.mark.parametrize(
    "more, words",
    [
        ("cancle: {}", "did you mean 'cancel'"),
        ("cancel: {states: []}", "cancel.states"),
        ("address: {states: [flown]}", "address.states"),
        ("returns: {send_back_days: -1}", "returns.send_back_days"),
        ("to_people: [refund]", "to_people"),
        ("version: 7", "version"),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, more: str, words: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read_policies(written(tmp_path, f"{SMALL}{more}\n"))

    assert "policies.yaml:5: " in str(caught.value)
    assert words in str(caught.value)
