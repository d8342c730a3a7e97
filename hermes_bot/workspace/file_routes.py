"""Where an app sends a file's content and fetches it again: the addresses that files.* give out."""

from __future__ import annotations

from urllib.parse import quote

from aiohttp import web

from hermes_bot.workspace.args import token_of
from hermes_bot.workspace.files import StoredFile
from hermes_bot.workspace.origin import Handler
from hermes_bot.workspace.people import App
from hermes_bot.workspace.refusal import Refusal
from hermes_bot.workspace.tokens import Tokens
from hermes_bot.workspace.workspace import Workspace

SIGN_IN_PAGE = "<!DOCTYPE html><html><head><title>Sign in</title></head><body>Sign in to read this file.</body></html>"


class FileRoutes:
    """Serves `/upload/v1/<secret>` and `/files-pri/…`."""

    def __init__(self, workspace: Workspace, tokens: Tokens) -> None:
        self._workspace = workspace
        self._tokens = tokens

    def routes(self) -> list[web.AbstractRouteDef]:
        """Return the routes to add to the server."""
        read: Handler = self._read
        return [
            web.post("/upload/v1/{secret}", self._take),
            web.get("/files-pri/{place}/{name}", read),
            web.get("/files-pri/{place}/download/{name}", read),
        ]

    async def _take(self, request: web.Request) -> web.StreamResponse:
        """Take a file's content, as the body itself or as a field of a form."""
        content = await _content(request)
        file = self._workspace.files.take(request.match_info["secret"], content)
        if file is None:
            return web.Response(text="no such upload, or not of the announced length", status=400)
        return web.Response(text=f"OK - {file.size}")

    async def _read(self, request: web.Request) -> web.StreamResponse:
        """Answer with the content to whoever may read it and, as Slack does, with a page to sign in to all others."""
        try:
            app = self._tokens.owner(token_of(request, {}))
            file = self._workspace.files.get(request.match_info["place"].rpartition("-")[2])
        except Refusal as refusal:
            return web.Response(status=404) if refusal.error.startswith("file_") else _sign_in()
        if not app.granted("files:read") or not self._may_read(app, file):
            return _sign_in()
        return content_of_file(file)

    def _may_read(self, app: App, file: StoredFile) -> bool:
        places = [self._workspace.roster.channel(place) for place in file.shared_in]
        return file.user == app.user or any(app.user in place.members for place in places)


def content_of_file(file: StoredFile) -> web.Response:
    """Return the answer that holds the file: always a download, because a customer's page must not run here."""
    headers = {
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(file.name)}",
        "X-Content-Type-Options": "nosniff",
    }
    return web.Response(body=file.content, content_type=file.mimetype, headers=headers)


async def _content(request: web.Request) -> bytes:
    if request.content_type == "multipart/form-data":
        for value in (await request.post()).values():
            if isinstance(value, web.FileField):
                return value.file.read()
        return b""
    return await request.read()


def _sign_in() -> web.Response:
    return web.Response(text=SIGN_IN_PAGE, content_type="text/html")
