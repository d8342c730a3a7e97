"""Files that people and apps share: their content, and how they look on the wire."""

from __future__ import annotations

import mimetypes
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from hermes_bot.workspace.clock import Clock
from hermes_bot.workspace.ids import Ids
from hermes_bot.workspace.posts import Json
from hermes_bot.workspace.refusal import Refusal

MAX_FILE_BYTES = 20_000_000
_TEXT = "text/plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """A file. `content` is empty and `ready` false while an app has announced it and not sent it yet."""

    id: str
    name: str
    title: str
    user: str
    team: str
    created: int
    size: int = 0
    content: bytes = b""
    ready: bool = True
    deleted: bool = False
    shared_in: tuple[str, ...] = ()

    @property
    def mimetype(self) -> str:
        """The kind of content, by the name."""
        return mimetypes.guess_type(self.name)[0] or _TEXT


class FileStore:
    """The files, by id; `announce` and `take` are the two ends of an app's upload.

    With a `folder` contents are kept there, one file each, so that what is remembered stays small.
    """

    def __init__(self, ids: Ids, clock: Clock, base_url: Callable[[], str]) -> None:
        self.folder: Path | None = None
        self._ids = ids
        self._clock = clock
        self._base_url = base_url
        self._files: dict[str, StoredFile] = {}
        self._uploads: dict[str, str] = {}

    def add(self, name: str, content: bytes, *, user: str, team: str) -> StoredFile:
        """Return a new file with its content."""
        if len(content) > MAX_FILE_BYTES:
            raise Refusal("file_upload_size_restricted")
        return self._keep(self._new(name, user, team, len(content), content, ready=True))

    def announce(self, name: str, size: int, *, user: str, team: str) -> tuple[StoredFile, str]:
        """Return a new file without content, and the secret of the address where it is sent."""
        if not 0 < size <= MAX_FILE_BYTES:
            raise Refusal("file_upload_size_restricted")
        file = self._new(name, user, team, size, b"", ready=False)
        secret = secrets.token_hex(16)
        self._uploads[secret] = file.id
        return file, secret

    def take(self, secret: str, content: bytes) -> StoredFile | None:
        """Return the announced file with its content, None when nothing (of this size) was announced there."""
        file = self._files.get(self._uploads.get(secret, ""))
        if file is None or len(content) != file.size:
            return None
        return self._keep(replace(file, content=content, ready=True))

    def get(self, file_id: str) -> StoredFile:
        """Return the file; raise Slack's refusal for one that is not there, or no longer."""
        file = self._files.get(file_id)
        if file is None:
            raise Refusal("file_not_found")
        if file.deleted:
            raise Refusal("file_deleted")
        return file

    def put(self, file: StoredFile) -> StoredFile:
        """Keep a new or changed file."""
        self._files[file.id] = file
        return file

    def remembered(self) -> list[StoredFile]:
        """Return every file without its content."""
        return [replace(file, content=b"") for file in self._files.values()]

    def recall(self, file: StoredFile) -> None:
        """Take up a remembered file, with its content from the folder; one whose content is gone counts as deleted."""
        kept = self.folder / file.id if self.folder is not None else None
        if kept is not None and kept.is_file():
            self.put(replace(file, content=kept.read_bytes()))
        else:
            self.put(replace(file, deleted=file.deleted or file.ready))

    def _keep(self, file: StoredFile) -> StoredFile:
        """Keep a file whose content has just come."""
        if self.folder is not None:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            (self.folder / file.id).write_bytes(file.content)
        return self.put(file)

    def share(self, file_id: str, channel: str) -> None:
        """Note that the file is shown in a conversation, and whoever is in it may read it."""
        file = self.get(file_id)
        if channel not in file.shared_in:
            self.put(replace(file, shared_in=(*file.shared_in, channel)))

    def delete(self, file_id: str) -> None:
        """Take the content away."""
        self.put(replace(self.get(file_id), content=b"", deleted=True))
        if self.folder is not None:
            (self.folder / file_id).unlink(missing_ok=True)

    def all(self) -> list[StoredFile]:
        """Return every file."""
        return list(self._files.values())

    def wire(self, file_id: str) -> Json:
        """Return the file as messages and files.info show it."""
        file = self._files[file_id]
        address = f"{self._base_url()}/files-pri/{file.team}-{file.id}"
        kind = file.name.rpartition(".")[2].lower() if "." in file.name else "text"
        return {
            "id": file.id,
            "created": file.created,
            "timestamp": file.created,
            "name": file.name,
            "title": file.title,
            "mimetype": file.mimetype,
            "filetype": kind,
            "pretty_type": kind.upper(),
            "user": file.user,
            "user_team": file.team,
            "editable": False,
            "size": file.size,
            "mode": "hosted",
            "is_external": False,
            "external_type": "",
            "is_public": False,
            "public_url_shared": False,
            "display_as_bot": False,
            "url_private": f"{address}/{file.name}",
            "url_private_download": f"{address}/download/{file.name}",
            "permalink": f"{self._base_url()}/files/{file.user}/{file.id}/{file.name}",
            "channels": [place for place in file.shared_in if place.startswith("C")],
            "groups": [place for place in file.shared_in if place.startswith("G")],
            "ims": [place for place in file.shared_in if place.startswith("D")],
            "has_rich_preview": False,
            "file_access": "visible",
        }

    def _new(self, name: str, user: str, team: str, size: int, content: bytes, *, ready: bool) -> StoredFile:
        clean = name.replace("/", "_").strip() or "file"
        return self.put(
            StoredFile(
                id=self._ids.next("F"),
                name=clean,
                title=clean,
                user=user,
                team=team,
                created=int(self._clock.now()),
                size=size,
                content=content,
                ready=ready,
            )
        )
