"""Every method of the workspace, called by slack_sdk's own function for it."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from hermes_bot.workspace.server import WorkspaceServer
from hermes_bot.workspace.web_api import METHODS
from tests.workspace.bot import bot_client

Json = dict[str, Any]
HOME: Json = {"type": "home", "blocks": [{"type": "divider"}]}
MODAL: Json = {"type": "modal", "title": {"type": "plain_text", "text": "Note"}, "blocks": [{"type": "divider"}]}


@dataclass(frozen=True)
class Scene:
    """A workspace in which something was said, and the bot's client."""

    server: WorkspaceServer
    client: AsyncWebClient
    asked: str
    said: str

    def trigger(self) -> str:
        return self.server.workspace.triggers.give("U0OMAR")

    def in_thread(self) -> Json:
        return {"channel": "C0SUPPORT", "thread_ts": self.asked}

    def session(self) -> Json:
        return {"channel_id": "C0SUPPORT", "thread_ts": self.asked}


async def scene(server: WorkspaceServer) -> Scene:
    client = bot_client(server)
    asked = await server.workspace.post("U0EMMA", "C0SUPPORT", "Where is my order?")
    said = await client.chat_postMessage(channel="C0SUPPORT", text="Let me look", thread_ts=asked)
    return Scene(server, client, asked, said["ts"])


async def _stream(on: Scene) -> str:
    people: Json = {"recipient_user_id": "U0EMMA", "recipient_team_id": "T0HERMES"}
    started = await on.client.chat_startStream(**on.in_thread(), **people, markdown_text="**On**")
    return str(started["ts"])


async def _append(on: Scene) -> AsyncSlackResponse:
    return await on.client.chat_appendStream(channel="C0SUPPORT", ts=await _stream(on), markdown_text=" its way")


async def _stop(on: Scene) -> AsyncSlackResponse:
    return await on.client.chat_stopStream(channel="C0SUPPORT", ts=await _stream(on), blocks=[{"type": "divider"}])


async def _rename(on: Scene) -> AsyncSlackResponse:
    await on.client.agents_sessions_setStatus(**on.session(), status="processing", title="Order")
    return await on.client.agents_sessions_rename(**on.session(), title="Order 1")


async def _push(on: Scene) -> AsyncSlackResponse:
    await on.client.views_open(trigger_id=on.trigger(), view=MODAL)
    return await on.client.views_push(trigger_id=on.trigger(), view=MODAL)


async def _update_view(on: Scene) -> AsyncSlackResponse:
    opened = await on.client.views_open(trigger_id=on.trigger(), view=MODAL)
    return await on.client.views_update(view_id=opened["view"]["id"], hash=opened["view"]["hash"], view=MODAL)


async def _uploaded(on: Scene) -> str:
    announced = await on.client.files_getUploadURLExternal(filename="a.txt", length=5)
    async with aiohttp.ClientSession() as session, session.post(announced["upload_url"], data=b"hello") as answer:
        assert answer.status == 200
    return str(announced["file_id"])


async def _complete(on: Scene) -> AsyncSlackResponse:
    files: list[dict[str, str | None]] = [{"id": await _uploaded(on), "title": "Terms"}]
    return await on.client.files_completeUploadExternal(files=files, channel_id="C0SUPPORT", initial_comment="Here")


async def _file_info(on: Scene) -> AsyncSlackResponse:
    return await on.client.files_info(file=await _uploaded(on))


async def _delete_file(on: Scene) -> AsyncSlackResponse:
    return await on.client.files_delete(file=await _uploaded(on))


async def _unschedule(on: Scene) -> AsyncSlackResponse:
    at = int(on.server.workspace.clock.now()) + 3600
    planned = await on.client.chat_scheduleMessage(channel="C0SUPPORT", post_at=at, text="later")
    return await on.client.chat_deleteScheduledMessage(
        channel="C0SUPPORT", scheduled_message_id=planned["scheduled_message_id"]
    )


async def _unreact(on: Scene) -> AsyncSlackResponse:
    await on.client.reactions_add(channel="C0SUPPORT", timestamp=on.asked, name="eyes")
    return await on.client.reactions_remove(channel="C0SUPPORT", timestamp=on.asked, name="eyes")


async def _connect(on: Scene) -> AsyncSlackResponse:
    return await on.client.apps_connections_open(app_token=on.server.world.app.app_token)


def _later(on: Scene) -> int:
    return int(on.server.workspace.clock.now()) + 60


CALLS: dict[str, Callable[[Scene], Awaitable[AsyncSlackResponse]]] = {
    "agents.sessions.rename": _rename,
    "agents.sessions.setStatus": lambda on: on.client.agents_sessions_setStatus(**on.session(), status="suspended"),
    "api.test": lambda on: on.client.api_test(),
    "apps.connections.open": _connect,
    "assistant.threads.setStatus": lambda on: on.client.assistant_threads_setStatus(
        **on.session(), status="is looking", loading_messages=["Reading the order book"]
    ),
    "assistant.threads.setSuggestedPrompts": lambda on: on.client.assistant_threads_setSuggestedPrompts(
        **on.session(), prompts=[{"title": "Track", "message": "Where is my order?"}]
    ),
    "assistant.threads.setTitle": lambda on: on.client.assistant_threads_setTitle(**on.session(), title="Order"),
    "auth.test": lambda on: on.client.auth_test(),
    "blocks.validate": lambda on: on.client.blocks_validate(blocks=[{"type": "divider"}]),
    "bots.info": lambda on: on.client.bots_info(bot="B0HERMES"),
    "chat.appendStream": _append,
    "chat.delete": lambda on: on.client.chat_delete(channel="C0SUPPORT", ts=on.said),
    "chat.deleteScheduledMessage": _unschedule,
    "chat.getPermalink": lambda on: on.client.chat_getPermalink(channel="C0SUPPORT", message_ts=on.said),
    "chat.meMessage": lambda on: on.client.chat_meMessage(channel="C0SUPPORT", text="waves"),
    "chat.postEphemeral": lambda on: on.client.chat_postEphemeral(channel="C0SUPPORT", user="U0EMMA", text="psst"),
    "chat.postMessage": lambda on: on.client.chat_postMessage(channel="C0SUPPORT", text="hello"),
    "chat.scheduleMessage": lambda on: on.client.chat_scheduleMessage(
        channel="C0SUPPORT", post_at=_later(on), text="later"
    ),
    "chat.scheduledMessages.list": lambda on: on.client.chat_scheduledMessages_list(),
    "chat.startStream": lambda on: on.client.chat_startStream(
        **on.in_thread(), recipient_user_id="U0EMMA", recipient_team_id="T0HERMES"
    ),
    "chat.stopStream": _stop,
    "chat.update": lambda on: on.client.chat_update(channel="C0SUPPORT", ts=on.said, text="Found it"),
    "conversations.history": lambda on: on.client.conversations_history(channel="C0SUPPORT"),
    "conversations.info": lambda on: on.client.conversations_info(channel="C0SUPPORT"),
    "conversations.join": lambda on: on.client.conversations_join(channel="C0GENERAL"),
    "conversations.leave": lambda on: on.client.conversations_leave(channel="C0HANDOFF"),
    "conversations.list": lambda on: on.client.conversations_list(types="public_channel,im,mpim,private_channel"),
    "conversations.members": lambda on: on.client.conversations_members(channel="C0SUPPORT"),
    "conversations.open": lambda on: on.client.conversations_open(users=["U0EMMA", "U0OMAR"]),
    "conversations.replies": lambda on: on.client.conversations_replies(channel="C0SUPPORT", ts=on.asked),
    "files.completeUploadExternal": _complete,
    "files.delete": _delete_file,
    "files.getUploadURLExternal": lambda on: on.client.files_getUploadURLExternal(filename="a.txt", length=3),
    "files.info": _file_info,
    "files.list": lambda on: on.client.files_list(),
    "reactions.add": lambda on: on.client.reactions_add(channel="C0SUPPORT", timestamp=on.asked, name="eyes"),
    "reactions.get": lambda on: on.client.reactions_get(channel="C0SUPPORT", timestamp=on.asked),
    "reactions.remove": _unreact,
    "team.info": lambda on: on.client.team_info(),
    "usergroups.list": lambda on: on.client.usergroups_list(include_users=True),
    "usergroups.users.list": lambda on: on.client.usergroups_users_list(usergroup="S0APPROVERS"),
    "users.conversations": lambda on: on.client.users_conversations(user="U0EMMA"),
    "users.info": lambda on: on.client.users_info(user="U0EMMA", include_locale=True),
    "users.list": lambda on: on.client.users_list(),
    "users.lookupByEmail": lambda on: on.client.users_lookupByEmail(email="li.na@example.com"),
    "views.open": lambda on: on.client.views_open(trigger_id=on.trigger(), view=MODAL),
    "views.publish": lambda on: on.client.views_publish(user_id="U0EMMA", view=HOME),
    "views.push": _push,
    "views.update": _update_view,
}


@pytest.mark.parametrize("name", sorted(METHODS))
async def test_slacks_own_client_is_served(name: str, workspace: WorkspaceServer) -> None:
    on = await scene(workspace)
    answer = await CALLS[name](on)

    assert answer["ok"] is True
    assert answer.status_code == 200


async def test_form_bodies_with_json_inside_are_taken_as_well(workspace: WorkspaceServer) -> None:
    """`@slack/web-api` and curl send them so."""
    blocks = json.dumps([{"type": "divider"}])
    form = {"token": workspace.world.app.bot_token, "channel": "C0SUPPORT", "text": "hi", "blocks": blocks}
    url = f"{workspace.api_url}chat.postMessage"
    async with aiohttp.ClientSession() as session, session.post(url, data=form) as answer:
        body = await answer.json()

    assert body["message"]["blocks"][0]["type"] == "divider"


async def test_slacks_own_upload_in_one_call_is_served(workspace: WorkspaceServer) -> None:
    client = bot_client(workspace)
    done = await client.files_upload_v2(channel="C0SUPPORT", content="a,b", filename="a.csv", initial_comment="Here")
    (posted,) = workspace.workspace.messages("C0SUPPORT")

    assert done["files"][0]["id"] == posted["files"][0]["id"]
    assert (posted["subtype"], posted["text"], posted["files"][0]["mimetype"]) == ("file_share", "Here", "text/csv")
