"""The client API: what the page of the local workspace, and tests that play a person, speak over HTTP.

It listens on the same port as the Web API and is JSON throughout. It is for the user's own browser alone: a request
whose `Host` is not this machine, or whose `Origin` is another site, is refused with 403 (see `origin`), and a POST must
carry `Content-Type: application/json` (415 otherwise). A refusal is `{"ok": false, "error": "<code>"}` with status 400,
403 (`not_in_channel`: the person is not a member) or 404 (`user_not_found`, `channel_not_found`, `message_not_found`,
`view_not_found`).

Pages
    GET /                 page/index.html
    GET /page/<path>      any other file of the folder page/

Reading
    GET /client/people
        {"team": {"id", "name"}, "bot": BOT, "bots": [BOT], "groups": [{"id", "handle", "members": [user ids]}],
         "people": [{"id", "name", "role", "dm", "guest": bool, "stranger": bool, "company"}]}
        role: "customer" | "operator" | "admin" | "member"; dm: id of the person's conversation with the first bot.
        BOT: {"id", "app", "name", "commands": ["/…"], "shortcuts": [{"callback_id", "name", "of_message"}], "home"}
    GET /client/state?user=U
        {"channels": [{"id", "name", "kind": "channel" | "dm" | "mpim", "private", "topic", "archived", "shared": bool,
          "members": [user ids]}]}
        Only conversations that U is a member of. A DM is named after its other side.
    GET /client/messages?user=U&channel=C[&thread_ts=TS]
        {"messages": [MESSAGE], "sessions": [SESSION]} oldest first: without thread_ts the root messages of the channel,
        with it the parent and its replies. Ephemeral messages that U was sent there are merged in by time.
    GET /client/missed?user=U
        {"missed": [{"channel", "message": MESSAGE}]} what others wrote since U's seat was first taken and U has not
        read, also in threads; the last 200.
    GET /client/views?user=U
        {"views": [VIEW], "home": VIEW or null} the modals that U has open, the topmost last; what the bot's home shows.
    GET /client/file?user=U&id=F
        The content of a file in a conversation of U's: pictures to show, everything else to save.

MESSAGE
    {"ts", "user", "bot": bool, "username", "text", "blocks": [], "thread_ts": "" or the parent's ts, "reply_count",
     "latest_reply": "" or ts, "edited": bool, "deleted": bool, "reactions": [{"name", "count", "users"}],
     "ephemeral": bool, "files": [], "attachments": [], "subtype", "broadcast": bool,
     "streaming": "" | "in_progress" | "completed"}
    text and blocks are Slack's own: `&lt; &gt; &amp;` escaped, `<@U…>`, `<#C…|name>`, `<https://…|label>`, `:emoji:`.
    deleted is true for a thread's parent that was deleted while it had replies, and in the frame "deleted".
SESSION
    {"app", "channel", "thread_ts", "status": "" | "processing" | "active" | "suspended" | "closed", "title", "text",
     "loading_messages": [], "prompts": [{"title", "message"}], "prompts_title"} with "" as thread_ts for a whole DM.
VIEW
    Slack's view object: {"id", "type": "modal", "title", "submit", "close", "blocks", "callback_id", "hash", …}.

Acting
    POST /client/post    {"user", "channel", "text", "thread_ts"?, "broadcast"?}  -> {"ok": true, "ts"}
        text is what the person typed: it is escaped here, and `@Name` of a person, the bot or a group becomes a token.
    POST /client/upload?user=U&channel=C&name=N[&text=T][&thread_ts=TS]    -> {"ok": true, "ts"}
        The body is the file, as application/octet-stream. Without a channel it is kept for a field of a view, and the
        answer carries Slack's "file" in place of ts.
    POST /client/edit    {"user", "channel", "ts", "text"}                 -> {"ok": true}
    POST /client/delete  {"user", "channel", "ts"}                         -> {"ok": true}
        One's own messages alone.
    POST /client/action  {"user", "channel", "ts", "action_id", "block_id"?, "value"?, "state"?}  -> {"ok", "error"?}
        A click on an element of a message or ephemeral. value: what was chosen or typed, as in /client/view; state:
        what stands in all elements, as its "values". For an element in a view send "view_id" in place of channel
        and ts. The answer comes when
        the app acknowledged; error is "not_acknowledged" when it did not within 3 s, "no_connection" when no app is
        connected; a click on what is no longer there gives "message_not_found" or "action_not_found".
    POST /client/options {"user", "channel", "ts", "action_id", "value"}   -> {"ok": true, "options": [Slack's options]}
        What the app offers for what was typed into an external select; "view_id" in place of channel and ts.
    POST /client/view    {"user", "view_id", "action": "submit" | "close", "values"?}  -> {"ok", "error"?, "errors"?}
        values: {block_id: {action_id: value}}; value is a string (text, date, one option's value), a list of strings
        (checkboxes, multi selects) or null. errors: {block_id: sentence} to show beside the inputs; the modal stays.
    POST /client/command {"user", "channel", "command": "/…", "text"?}     -> {"ok", "error"?}
    POST /client/shortcut {"user", "callback_id", "channel"?, "ts"?}       -> {"ok", "error"?}
    POST /client/home    {"user", "tab": "home" | "messages", "app"?}      -> {"ok": true}
        The app is told that its tab was opened.
    POST /client/stop    {"user", "channel", "thread_ts"}                  -> {"ok": true, "stopped": [ts]}
    POST /client/react   {"user", "channel", "ts", "name", "on": bool}     -> {"ok": true}
    POST /client/look    {"user", "channel", "ts", "thread_ts"?}           -> {"ok": true}
        The person has read the conversation, or the thread, up to that message.

Live
    WS /client/live?user=U pushes one JSON object a frame:
        {"type": "message",     "channel", "thread_ts", "message"}   a new message, root or reply
        {"type": "changed",     "channel", "thread_ts", "message"}   edited; also a parent whose reply count changed
        {"type": "reaction",    "channel", "thread_ts", "message"}   its reactions changed
        {"type": "deleted",     "channel", "thread_ts", "message"}   gone; message.ts says which
        {"type": "ephemeral",   "channel", "thread_ts", "message"}   a new message for U alone; later "changed" or
                                                                     "deleted" frames of it carry message.ephemeral
        {"type": "view_opened", "view"}                              opened, or redrawn when the id is already open
        {"type": "view_closed", "view"}
        {"type": "home",        "view"}                              the bot's home shows this now
        {"type": "session",     "channel", "session"}                a SESSION, new or changed
        {"type": "looked",      "channel", "thread_ts", "ts"}        U has read up to there, perhaps on another page
        {"type": "state"}                                            the list of conversations changed: read it again
    Frames from the client are ignored. Nothing is replayed: after a reconnect, read the messages again.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from aiohttp import web

from hermes_bot.workspace.client_acts import ClientActs
from hermes_bot.workspace.client_live import LiveSockets
from hermes_bot.workspace.client_reads import ClientReads
from hermes_bot.workspace.origin import Handler
from hermes_bot.workspace.refusal import Refusal
from hermes_bot.workspace.workspace import Workspace

PAGE = Path(__file__).parent / "page"
_STATUS: Mapping[str, int] = {
    "not_in_channel": 403,
    "user_not_found": 404,
    "channel_not_found": 404,
    "message_not_found": 404,
    "thread_not_found": 404,
    "view_not_found": 404,
    "file_not_found": 404,
    "file_deleted": 404,
}
_PAGE_HEADERS = {"Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY"}


class ClientApi:
    """Serves the page, `/client/…` and the live sockets."""

    def __init__(self, workspace: Workspace) -> None:
        self._reads = ClientReads(workspace)
        self._acts = ClientActs(workspace)
        self._live = LiveSockets(workspace)

    def routes(self) -> list[web.AbstractRouteDef]:
        """Return the routes to add to the server."""
        reads, acts = self._reads, self._acts
        reading = {
            "people": reads.people,
            "state": reads.state,
            "messages": reads.messages,
            "missed": reads.missed,
            "views": reads.views,
            "file": reads.file,
        }
        acting = {
            "post": acts.post,
            "edit": acts.edit,
            "delete": acts.delete,
            "react": acts.react,
            "look": acts.look,
            "action": acts.action,
            "view": acts.view,
            "options": acts.options,
            "command": acts.command,
            "shortcut": acts.shortcut,
            "home": acts.home,
            "stop": acts.stop,
        }
        return [
            web.get("/", self._guarded(_page)),
            web.get("/page/{path:.+}", self._guarded(_page)),
            web.get("/archives/{channel}/{post}", self._guarded(_permalink)),
            web.get("/client/live", self._guarded(self._live.serve)),
            web.post("/client/upload", self._guarded(acts.upload, content="application/octet-stream")),
            *(web.get(f"/client/{name}", self._guarded(handler)) for name, handler in reading.items()),
            *(web.post(f"/client/{name}", self._guarded(handler)) for name, handler in acting.items()),
        ]

    async def close(self) -> None:
        """End the live sockets."""
        await self._live.close()

    def _guarded(self, handler: Handler, *, content: str = "application/json") -> Handler:
        """Return the handler with refusals as JSON; a form that another site could send is none of ours."""

        async def guarded(request: web.Request) -> web.StreamResponse:
            if request.method == "POST" and request.content_type != content:
                return _refused("json_wanted" if content.endswith("json") else "octets_wanted", 415)
            try:
                return await handler(request)
            except Refusal as refusal:
                return _refused(refusal.error, _STATUS.get(refusal.error, 400))

        return guarded


async def _page(request: web.Request) -> web.StreamResponse:
    file = (PAGE / request.match_info.get("path", "index.html")).resolve()
    if not file.is_relative_to(PAGE.resolve()) or not file.is_file():
        return _refused("file_not_found", 404)
    return web.FileResponse(file, headers=_PAGE_HEADERS)


async def _permalink(request: web.Request) -> web.StreamResponse:
    ts = request.match_info["post"].removeprefix("p")
    raise web.HTTPFound(f"/?channel={request.match_info['channel']}&ts={ts[:-6]}.{ts[-6:]}")


def _refused(error: str, status: int) -> web.Response:
    return web.json_response({"ok": False, "error": error}, status=status)
