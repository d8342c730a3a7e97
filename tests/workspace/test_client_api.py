"""The client API: what the page reads and does, and who may."""

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
from slack_sdk.web.async_client import AsyncWebClient

from hermes_bot.workspace.server import WorkspaceServer
from tests.workspace.bot import running

Json = dict[str, Any]
BUTTON = {"type": "button", "action_id": "go", "text": {"type": "plain_text", "text": "Go"}, "value": "1"}
CARD = [{"type": "actions", "elements": [BUTTON]}]


class Page:
    """What the page's scripts do, without the page."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self.session = session

    async def get(self, path: str, **query: str) -> Json:
        async with self.session.get(path, params=query) as response:
            body: Json = await response.json()
            return body | {"status": response.status}

    async def post(self, path: str, **body: Any) -> Json:
        async with self.session.post(path, json=body) as response:
            answer: Json = await response.json()
            return answer | {"status": response.status}


@pytest_asyncio.fixture
async def page(workspace: WorkspaceServer) -> AsyncIterator[Page]:
    async with aiohttp.ClientSession(workspace.url) as session:
        yield Page(session)


async def test_people_are_listed_with_their_roles_and_dms(page: Page) -> None:
    people = await page.get("/client/people")

    assert people["team"] == {"id": "T0HERMES", "name": "Hermes Demo"}
    assert people["bot"] == people["bots"][0]
    assert (people["bot"]["id"], people["bot"]["app"], people["bot"]["name"]) == ("U0HERMES", "A0HERMES", "Hermes")
    emma = {"id": "U0EMMA", "name": "Emma Fischer", "role": "customer", "dm": "D0EMMA"}
    assert people["people"][0] == emma | {"guest": False, "stranger": False, "company": ""}
    assert people["groups"][0] == {"id": "S0APPROVERS", "handle": "approvers", "members": ["U0OMAR", "U0OLIVIA"]}
    roles = [one["role"] for one in people["people"] if not one["stranger"]]
    assert roles == ["customer", "customer", "operator", "operator", "admin"]


async def test_a_person_sees_their_own_conversations(page: Page) -> None:
    channels = (await page.get("/client/state", user="U0EMMA"))["channels"]

    assert [channel["id"] for channel in channels] == ["C0SUPPORT", "C0GENERAL", "D0EMMA"]
    assert (channels[2]["kind"], channels[2]["name"]) == ("dm", "Hermes")


@pytest.mark.parametrize(
    "user,channel,status",
    [("U0EMMA", "C0HANDOFF", 403), ("U0EMMA", "D0LINA", 403), ("U0NOBODY", "C0SUPPORT", 404), ("U0EMMA", "C0NO", 404)],
)
async def test_only_members_read_and_write(page: Page, user: str, channel: str, status: int) -> None:
    read = await page.get("/client/messages", user=user, channel=channel)
    written = await page.post("/client/post", user=user, channel=channel, text="hello")

    assert (read["status"], written["status"]) == (status, status)
    assert "messages" not in read


async def test_roots_carry_their_reply_count_and_threads_their_parent(
    workspace: WorkspaceServer, page: Page, client: AsyncWebClient
) -> None:
    root = (await page.post("/client/post", user="U0EMMA", channel="C0SUPPORT", text="hello"))["ts"]
    reply = await client.chat_postMessage(channel="C0SUPPORT", text="yes?", thread_ts=root)
    roots = (await page.get("/client/messages", user="U0LINA", channel="C0SUPPORT"))["messages"]
    thread = (await page.get("/client/messages", user="U0LINA", channel="C0SUPPORT", thread_ts=root))["messages"]

    assert [(one["ts"], one["reply_count"], one["latest_reply"]) for one in roots] == [(root, 1, reply["ts"])]
    assert [(one["text"], one["bot"]) for one in thread] == [("hello", False), ("yes?", True)]
    assert set(roots[0]) == {
        *("ts", "user", "bot", "username", "text", "blocks", "thread_ts", "reply_count", "latest_reply"),
        *("edited", "deleted", "reactions", "ephemeral", "files", "attachments", "subtype", "broadcast", "streaming"),
    }


async def test_ephemerals_are_merged_by_time_for_their_person_alone(
    workspace: WorkspaceServer, page: Page, client: AsyncWebClient
) -> None:
    await client.chat_postMessage(channel="C0SUPPORT", text="first")
    await client.chat_postEphemeral(channel="C0SUPPORT", user="U0EMMA", text="for Emma")
    await client.chat_postMessage(channel="C0SUPPORT", text="last")
    emma = (await page.get("/client/messages", user="U0EMMA", channel="C0SUPPORT"))["messages"]
    lina = (await page.get("/client/messages", user="U0LINA", channel="C0SUPPORT"))["messages"]

    assert [one["text"] for one in emma] == ["first", "for Emma", "last"]
    assert [one["ephemeral"] for one in emma] == [False, True, False]
    assert [one["text"] for one in lina] == ["first", "last"]


async def test_a_click_and_a_modal_go_through_the_page(workspace: WorkspaceServer, page: Page) -> None:
    note = {"type": "input", "block_id": "b", "label": {"type": "plain_text", "text": "Note"}}
    view: Json = {
        "type": "modal",
        "callback_id": "v",
        "title": {"type": "plain_text", "text": "Note"},
        "submit": {"type": "plain_text", "text": "Send"},
        "blocks": [note | {"element": {"type": "plain_text_input", "action_id": "a"}}],
    }
    sent: list[Json] = []
    async with running(workspace) as bot:

        async def clicked(ack: Any, body: Json) -> None:
            await bot.client.views_open(trigger_id=body["trigger_id"], view=view)
            await ack()

        async def submitted(ack: Any, body: Json) -> None:
            sent.append(body["view"]["state"]["values"])
            await ack()

        bot.app.action("go")(clicked)
        bot.app.view("v")(submitted)
        posted = await bot.client.chat_postMessage(channel="C0SUPPORT", text="card", blocks=CARD)
        action = {"user": "U0OMAR", "channel": "C0SUPPORT", "ts": posted["ts"], "action_id": "go"}
        click = await page.post("/client/action", **action)
        (opened,) = (await page.get("/client/views", user="U0OMAR"))["views"]
        submit = {"user": "U0OMAR", "view_id": opened["id"], "action": "submit"}
        empty = await page.post("/client/view", **submit, values={})
        full = await page.post("/client/view", **submit, values={"b": {"a": "done"}})
        gone = await page.post("/client/view", **submit, values={})

    assert (click["ok"], empty["ok"], full["ok"]) == (True, False, True)
    assert list(empty["errors"]) == ["b"]
    assert sent == [{"b": {"a": {"type": "plain_text_input", "value": "done"}}}]
    assert (gone["status"], gone["error"]) == (404, "view_not_found")


async def test_a_click_without_an_app_says_so(page: Page, client: AsyncWebClient) -> None:
    posted = await client.chat_postMessage(channel="C0SUPPORT", text="card", blocks=CARD)
    action = {"user": "U0OMAR", "channel": "C0SUPPORT", "ts": posted["ts"], "action_id": "go"}

    assert (await page.post("/client/action", **action))["error"] == "no_connection"


async def test_the_live_socket_tells_what_the_person_may_see(
    workspace: WorkspaceServer, page: Page, client: AsyncWebClient
) -> None:
    async with page.session.ws_connect("/client/live", params={"user": "U0EMMA"}) as live:
        await client.chat_postMessage(channel="C0HANDOFF", text="not for Emma")
        await client.chat_postEphemeral(channel="C0SUPPORT", user="U0LINA", text="not for Emma")
        posted = await client.chat_postMessage(channel="C0SUPPORT", text="one")
        await client.chat_postMessage(channel="C0SUPPORT", text="two", thread_ts=posted["ts"])
        await client.chat_update(channel="C0SUPPORT", ts=posted["ts"], text="three")
        await client.reactions_add(channel="C0SUPPORT", timestamp=posted["ts"], name="eyes")
        await client.chat_postEphemeral(channel="C0SUPPORT", user="U0EMMA", text="four")
        last = await client.chat_postMessage(channel="D0EMMA", text="five")
        await client.chat_delete(channel="D0EMMA", ts=last["ts"])
        frames = [await live.receive_json(timeout=60) for _ in range(8)]

    assert [(frame["type"], frame["channel"], frame["message"]["text"]) for frame in frames] == [
        ("message", "C0SUPPORT", "one"),
        ("message", "C0SUPPORT", "two"),
        ("changed", "C0SUPPORT", "one"),
        ("changed", "C0SUPPORT", "three"),
        ("reaction", "C0SUPPORT", "three"),
        ("ephemeral", "C0SUPPORT", "four"),
        ("message", "D0EMMA", "five"),
        ("deleted", "D0EMMA", "five"),
    ]
    assert (frames[1]["thread_ts"], frames[2]["message"]["reply_count"]) == (posted["ts"], 1)
    assert frames[7]["message"]["deleted"] is True


async def test_a_new_conversation_is_told_of(workspace: WorkspaceServer, page: Page, client: AsyncWebClient) -> None:
    async with page.session.ws_connect("/client/live", params={"user": "U0EMMA"}) as live:
        await client.conversations_join(channel="C0GENERAL")

        assert await live.receive_json(timeout=60) == {"type": "state"}


@pytest.mark.parametrize(
    "headers",
    [{"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Host": "evil.example:80"}],
)
@pytest.mark.parametrize("path", ["/client/people", "/", "/client/live?user=U0EMMA", "/api/auth.test", "/link/"])
async def test_other_origins_are_kept_out(page: Page, headers: dict[str, str], path: str) -> None:
    async with page.session.get(path, headers=headers) as response:
        assert response.status == 403


async def test_the_pages_own_origin_and_localhost_are_let_in(workspace: WorkspaceServer, page: Page) -> None:
    for headers in ({"Origin": workspace.url}, {"Host": f"localhost:{workspace.port}"}):
        async with page.session.get("/client/people", headers=headers) as response:
            assert response.status == 200


async def test_a_post_that_is_not_json_is_refused(page: Page) -> None:
    form = {"user": "U0EMMA", "channel": "C0SUPPORT", "text": "forged"}
    async with page.session.post("/client/post", data=form) as response:
        assert response.status == 415


@pytest.mark.parametrize("body", ["{", "[]", '{"user": 7}', '{"user": "U0EMMA", "channel": "C0SUPPORT"}'])
async def test_a_malformed_post_is_refused(workspace: WorkspaceServer, page: Page, body: str) -> None:
    headers = {"Content-Type": "application/json"}
    async with page.session.post("/client/post", data=body, headers=headers) as response:
        assert response.status == 400
    assert workspace.workspace.messages("C0SUPPORT") == []


async def test_files_outside_the_page_are_not_served(page: Page) -> None:
    for path in ("/page/..%2fserver.py", "/page/%2e%2e/server.py", "/page/none.js"):
        async with page.session.get(path) as response:
            assert response.status == 404


async def test_a_permalink_leads_to_the_page(workspace: WorkspaceServer, page: Page, client: AsyncWebClient) -> None:
    posted = await client.chat_postMessage(channel="C0SUPPORT", text="here")
    link = (await client.chat_getPermalink(channel="C0SUPPORT", message_ts=posted["ts"]))["permalink"]
    async with page.session.get(str(link).removeprefix(workspace.url), allow_redirects=False) as response:
        assert response.headers["Location"] == f"/?channel=C0SUPPORT&ts={posted['ts']}"


HALF = '{"user": "U0EMMA", "channel": "C0SUPPORT", "text": "half \\ud800 a character"}'


@pytest.mark.parametrize("raw", [HALF, "[" * 100_000], ids=["half a character", "nested without end"])
async def test_a_body_that_nothing_can_keep_is_refused(page: Page, workspace: WorkspaceServer, raw: str) -> None:
    headers = {"Content-Type": "application/json"}
    async with page.session.post("/client/post", data=raw, headers=headers) as response:
        answer = await response.json()

    assert (response.status, answer["error"]) == (400, "invalid_json")
    assert workspace.workspace.messages("C0SUPPORT") == []
