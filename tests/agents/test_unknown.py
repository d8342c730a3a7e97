import pytest

from tests.agents.harness import Pump


@pytest.mark.parametrize(
    "text, key",
    [
        ("Hi there!", "small_talk.greeting"),
        ("你好，在吗", "small_talk.greeting"),
        ("Thank you so much for your help! That's all I needed.", "small_talk.thanks"),
        ("好的谢谢", "small_talk.thanks"),
        ("Bye, have a nice day", "small_talk.bye"),
        ("Are you a real person?", "small_talk.who"),
        ("你是真人吗", "small_talk.who"),
        ("what can you do?", "small_talk.who"),
    ],
)
async def test_small_talk_gets_one_fitting_line(pump: Pump, text: str, key: str) -> None:
    turn = await pump.says("U0EMMA", text)

    language = "zh" if text[0] > "\u4e00" else "en"
    assert turn.answer.text == pump.desk.texts.render(language, key)
    assert len(turn.replies) == 1


async def test_thanks_after_a_solved_ticket_gets_one_short_line_and_changes_nothing(pump: Pump) -> None:
    solved = await pump.says("U0EMMA", "where is my order 10002?", channel="D0EMMA")
    before = await pump.desk.tickets.get(solved.answer.ticket_id)
    thanks = await pump.says("U0EMMA", "thanks!", channel="D0EMMA")
    after = await pump.desk.tickets.get(solved.answer.ticket_id)

    assert thanks.answer.text == "You're welcome!"
    assert (after.agent, after.status, after.why) == (before.agent, before.status, before.why)


async def test_small_talk_between_does_not_lose_the_open_question(pump: Pump) -> None:
    await pump.says("U0EMMA", "where is my parcel?", channel="D0EMMA")
    await pump.says("U0EMMA", "hello?", channel="D0EMMA")
    turn = await pump.says("U0EMMA", "10002", channel="D0EMMA")

    assert "on its way" in turn.answer.text


async def test_what_is_none_of_the_shops_business_is_answered_with_what_the_bot_can_do(pump: Pump) -> None:
    turn = await pump.says("U0EMMA", "What is the capital of France?")

    assert turn.answer.text == pump.desk.texts.render("en", "unknown.out_of_scope")
