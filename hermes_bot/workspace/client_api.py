"""The client API: what the page of the local workspace, and tests that play a person, speak over HTTP.

It listens on the same port as the Web API and is JSON throughout. It is for the user's own browser alone: a request
whose `Host` is not this machine, or whose `Origin` is another site, is refused with 403, and a POST must carry
`Content-Type: application/json` (415 otherwise). A refusal is `{"ok": false, "error": "<code>"}` with status 400,
403 (`not_in_channel`: the person is not a member) or 404 (`user_not_found`, `channel_not_found`, `message_not_found`,
`view_not_found`).

Pages
    GET /                 page/index.html
    GET /page/<path>      any other file of the folder page/

Reading
    GET /client/people
        {"team": {"id", "name"}, "bot": {"id", "name"}, "people": [{"id", "name", "role", "dm"}]}
        role: "customer" | "operator" | "admin" | "member"; dm: id of the person's conversation with the bot.
    GET /client/state?user=U
        {"channels": [{"id", "name", "kind": "channel" | "dm", "private", "topic", "archived", "members": [user ids]}]}
        Only conversations that U is a member of. A DM is named after its other side.
    GET /client/messages?user=U&channel=C[&thread_ts=TS]
        {"messages": [MESSAGE]} oldest first: without thread_ts the root messages of the channel, with it the parent
        and its replies. Ephemeral messages that U was sent there are merged in by time.
    GET /client/views?user=U
        {"views": [VIEW]} the modals that U has open, the topmost last.

MESSAGE
    {"ts", "user", "bot": bool, "username", "text", "blocks": [], "thread_ts": "" or the parent's ts, "reply_count",
     "latest_reply": "" or ts, "edited": bool, "deleted": bool, "reactions": [{"name", "count", "users"}],
     "ephemeral": bool, "files": []}
    text and blocks are Slack's own: `&lt; &gt; &amp;` escaped, `<@U…>`, `<#C…|name>`, `<https://…|label>`, `:emoji:`.
    deleted is true for a thread's parent that was deleted while it had replies, and in the frame "deleted".
VIEW
    Slack's view object: {"id", "type": "modal", "title", "submit", "close", "blocks", "callback_id", "hash", …}.

Acting
    POST /client/post    {"user", "channel", "text", "thread_ts"?}         -> {"ok": true, "ts"}
        text is what the person typed: it is escaped here, and `@Name` of a known person or the bot becomes `<@U…>`.
    POST /client/action  {"user", "channel", "ts", "action_id", "block_id"?, "value"?, "state"?}  -> {"ok", "error"?}
        A click on a button of a message or ephemeral. value: the chosen option's value, for selects, radio buttons
        and overflow menus. For an element in a modal send "view_id" in place of channel and ts. The answer comes when
        the app acknowledged; error is "not_acknowledged" when it did not within 3 s, "no_connection" when no app is
        connected; a click on what is no longer there gives "message_not_found" or "action_not_found".
    POST /client/view    {"user", "view_id", "action": "submit" | "close", "values"?}  -> {"ok", "error"?, "errors"?}
        values: {block_id: {action_id: value}}; value is a string (text, date, one option's value), a list of strings
        (checkboxes, multi selects) or null. errors: {block_id: sentence} to show beside the inputs; the modal stays.
    POST /client/react   {"user", "channel", "ts", "name", "on": bool}     -> {"ok": true}

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
        {"type": "state"}                                            the list of conversations changed: read it again
    Frames from the client are ignored. Nothing is replayed: after a reconnect, read the messages again.
"""
