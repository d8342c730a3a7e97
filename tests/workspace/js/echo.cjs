// A small app on @slack/bolt that the tests run against the local workspace, over Socket Mode or over HTTP.
// It says back what it hears, and prints one JSON line for each thing that happened.

const { App } = require("@slack/bolt");

const { BOT_TOKEN, APP_TOKEN, SIGNING_SECRET, API_URL, PORT } = process.env;
const tell = (happened, more = {}) => process.stdout.write(`${JSON.stringify({ happened, ...more })}\n`);
const plain = (text) => ({ type: "plain_text", text });

const app = new App({
  token: BOT_TOKEN,
  clientOptions: { slackApiUrl: API_URL },
  ...(PORT ? { signingSecret: SIGNING_SECRET } : { appToken: APP_TOKEN, socketMode: true }),
});

const CARD = [
  { type: "section", text: { type: "mrkdwn", text: "Go on?" } },
  {
    type: "actions",
    elements: [
      { type: "button", action_id: "go", text: plain("Go"), value: "1" },
      { type: "button", action_id: "note", text: plain("Note"), value: "2" },
    ],
  },
];

const NOTE = {
  type: "modal",
  callback_id: "note",
  title: plain("Note"),
  submit: plain("Send"),
  blocks: [{ type: "input", block_id: "why", label: plain("Why?"), element: { type: "plain_text_input", action_id: "text" } }],
};

app.message(async ({ message, say, client }) => {
  if (message.subtype) return;
  await client.reactions.add({ channel: message.channel, timestamp: message.ts, name: "eyes" });
  await say({ text: `echo: ${message.text}`, thread_ts: message.ts, blocks: CARD });
});

app.action("go", async ({ ack, respond, action }) => {
  await ack();
  await respond({ text: `gone: ${action.value}`, replace_original: true });
});

app.action("note", async ({ ack, client, body }) => {
  await ack();
  await client.views.open({ trigger_id: body.trigger_id, view: NOTE });
});

app.view("note", async ({ ack, view }) => {
  const why = view.state.values.why.text.value;
  await ack(why === "because" ? { response_action: "errors", errors: { why: "Say more." } } : undefined);
  tell("note", { why });
});

app.command("/echo", async ({ ack, command, respond }) => {
  await ack({ text: `at once: ${command.text}` });
  await respond({ text: `later: ${command.text}` });
});

app.shortcut("ticket", async ({ ack, shortcut }) => {
  await ack();
  tell("shortcut", { type: shortcut.type, ts: shortcut.message_ts });
});

app.event("app_home_opened", async ({ event, client }) => {
  await client.views.publish({ user_id: event.user, view: { type: "home", blocks: CARD } });
});

app.error(async (error) => tell("error", { message: String(error) }));

(async () => {
  await app.start(PORT ? Number(PORT) : undefined);
  tell("started");
})();
