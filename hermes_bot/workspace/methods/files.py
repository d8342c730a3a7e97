"""files.*: upload in three steps, look-up, removal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hermes_bot.workspace.content import Content, content_of
from hermes_bot.workspace.methods.chat import draft, writable
from hermes_bot.workspace.methods.method import Call, Method, errors, needs
from hermes_bot.workspace.posts import Json
from hermes_bot.workspace.refusal import Refusal


def _upload_url(call: Call) -> Json:
    name = call.args.required("filename")
    length = call.args.text("length") if isinstance(call.args.any("length"), str) else str(call.args.any("length"))
    if not length.isdigit():
        raise Refusal("invalid_arguments", ["[ERROR] must be an integer [json-pointer:/length]"])
    file, secret = call.workspace.files.announce(name, int(length), user=call.app.user, team=call.app.team)
    url = f"{call.workspace.outside.base_url()}/upload/v1/{secret}"
    return {"upload_url": url, "file_id": file.id}


def _complete(call: Call) -> Json:
    """Name the files and share them in a conversation, where one is given."""
    files = call.args.structure("files", wrong="invalid_arguments")
    if not isinstance(files, list) or not files or not all(isinstance(one, dict) for one in files):
        raise Refusal("invalid_arguments", ["[ERROR] must be an array of files [json-pointer:/files]"])
    store = call.workspace.files
    ids = [str(one.get("id")) for one in files]
    for file_id, one in zip(ids, files, strict=True):
        file = store.get(file_id)
        if not file.ready or file.user != call.app.user:
            raise Refusal("file_not_found")
        store.put(replace(file, title=str(one.get("title") or file.title)))
    if call.args.text("channel_id"):
        _share(call, ids)
    return {"files": [store.wire(file_id) for file_id in ids]}


def _share(call: Call, ids: list[str]) -> None:
    try:
        channel = writable(call, call.args.text("channel_id"))
    except Refusal as refusal:
        known = refusal.error in ("channel_not_found", "not_in_channel")
        raise refusal if known else Refusal("posting_to_channel_denied") from refusal
    for file_id in ids:
        call.workspace.files.share(file_id, channel.id)
    comment = call.args.text("initial_comment")
    said = _comment(call, comment) if comment or call.args.given("blocks") else Content()
    post = draft(call, channel, said)
    files = tuple(call.workspace.files.wire(file_id) for file_id in ids)
    call.workspace.conversations.post(replace(post, files=files, subtype="file_share"))


def _comment(call: Call, text: str) -> Content:
    try:
        return content_of(call.args.without("metadata").with_text(text), call.new_id)
    except Refusal as refusal:
        raise Refusal("invalid_blocks", refusal.messages) from refusal


def _info(call: Call) -> Json:
    file = call.workspace.files.get(call.args.required("file"))
    _check_seen(call, file.shared_in, file.user)
    return {"file": call.workspace.files.wire(file.id), "comments": [], "response_metadata": {"next_cursor": ""}}


def _check_seen(call: Call, shared_in: tuple[str, ...], owner: str) -> None:
    """Raise `file_not_found` for a file of a conversation that the app's bot is not in."""
    places = [call.workspace.roster.channel(place) for place in shared_in]
    if owner != call.app.user and not any(call.app.user in place.members for place in places):
        raise Refusal("file_not_found")


def _list(call: Call) -> Json:
    store = call.workspace.files
    mine = [file for file in store.all() if not file.deleted and file.ready]
    if call.args.text("channel"):
        mine = [file for file in mine if call.args.text("channel") in file.shared_in]
    paging = {"count": len(mine), "total": len(mine), "page": 1, "pages": 1}
    return {"files": [store.wire(file.id) for file in mine], "paging": paging}


def _delete(call: Call) -> Json:
    file = call.workspace.files.get(call.args.required("file"))
    if file.user != call.app.user:
        raise Refusal("cant_delete_file")
    call.workspace.files.delete(file.id)
    return {}


_READ, _WRITE = needs("files:read"), needs("files:write")
METHODS: Mapping[str, Method] = {
    "files.getUploadURLExternal": Method(
        run=_upload_url, errors=errors("file_upload_size_restricted"), scopes=_WRITE, tier=100
    ),
    "files.completeUploadExternal": Method(
        run=_complete,
        errors=errors("channel_not_found not_in_channel file_not_found invalid_blocks posting_to_channel_denied"),
        scopes=_WRITE,
        tier=100,
    ),
    "files.info": Method(run=_info, errors=errors("file_not_found file_deleted"), scopes=_READ, tier=100),
    "files.list": Method(run=_list, scopes=_READ, tier=50),
    "files.delete": Method(
        run=_delete, errors=errors("file_not_found file_deleted cant_delete_file"), scopes=_WRITE, tier=50
    ),
}
