"""What the settings of one channel change in the answers there."""

from dataclasses import replace

from agents.desk import Ways
from hermes_bot.messages.payloads import Audience
from tests.agents.harness import SUPPORT, Pump


async def test_a_channel_with_a_language_of_its_own_is_answered_in_it(pump: Pump) -> None:
    pump.desk = replace(pump.desk, ways={SUPPORT: Ways(language="zh")})

    turn = await pump.says("U0EMMA", "Where is my order 10002?")

    assert any("\u4e00" <= letter <= "\u9fff" for letter in turn.answer.text)


async def test_where_the_channel_allows_it_private_details_stand_in_the_thread(pump: Pump) -> None:
    pump.desk = replace(pump.desk, ways={SUPPORT: Ways(private_in_thread=True)})

    turn = await pump.says("U0EMMA", "Where is my order 10002?")

    assert turn.answer.fields
    assert turn.seen_by(Audience.OWNER) == []


async def test_the_ways_of_one_channel_are_not_those_of_another(pump: Pump) -> None:
    pump.desk = replace(pump.desk, ways={"C0OTHER": Ways(language="zh", private_in_thread=True)})

    turn = await pump.says("U0EMMA", "Where is my order 10002?")

    assert "on its way" in turn.answer.text
    assert turn.answer.fields == ()
