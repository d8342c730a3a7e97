// What the fields of a message or a view hold, as values: {block_id: {action_id: string | list | null}}.
import { useState } from "./ui.js";

const INITIAL = [
  "initial_value", "initial_date", "initial_time", "initial_date_time", "initial_user", "initial_conversation", "initial_channel",
  "initial_users", "initial_conversations", "initial_channels",
];
const NOT_FIELDS = new Set(["button", "overflow", "image", "feedback_buttons", "icon_button", "workflow_button"]);

const elementsOf = (block) => [...(block.elements ?? []), block.accessory, block.element].filter((one) => one?.action_id);

function initialValue(element) {
  if (element.type === "rich_text_input") return null;
  const name = INITIAL.find((one) => one in element);
  if (name) return typeof element[name] === "number" ? String(element[name]) : element[name];
  return element.initial_option?.value ?? element.initial_options?.map(({ value }) => value) ?? null;
}

// Blocks, and those within them.
const flat = (blocks) => blocks.flatMap((block) => (block.child_blocks ? flat(block.child_blocks) : [block]));

function initialValues(blocks) {
  const values = {};
  for (const block of flat(blocks)) {
    for (const element of elementsOf(block)) {
      if (!NOT_FIELDS.has(element.type)) (values[block.block_id] ??= {})[element.action_id] = initialValue(element);
    }
  }
  return values;
}

export const withValue = (values, block, field, value) => ({ ...values, [block]: { ...values[block], [field]: value } });

// {values, errors, setErrors, change}: what the app set, and over it what the person chose or typed.
export function useForm(blocks) {
  const [typed, setTyped] = useState({});
  const [errors, setErrors] = useState({});
  const initial = initialValues(blocks);
  const values = Object.fromEntries(Object.entries(initial).map(([block, fields]) => [block, { ...fields, ...known(typed[block], fields) }]));
  const change = (block, field, value) => {
    setTyped((old) => withValue(old, block, field, value === "" ? null : value));
    setErrors(({ [block]: _, ...rest }) => rest);
  };
  return { values, errors, setErrors, change };
}

const known = (typed, fields) => Object.fromEntries(Object.entries(typed ?? {}).filter(([field]) => field in fields));

// The sentences the page itself can say of a view before it asks the app.
export function missing(blocks, values, t) {
  const errors = {};
  for (const { type, block_id, element, optional } of flat(blocks)) {
    if (type !== "input") continue;
    const value = values[block_id]?.[element.action_id] ?? "";
    const empty = typeof value === "string" ? !value.trim() : !value.length;
    if (empty && !optional) errors[block_id] = t.required;
    else if (value && element.min_length && value.length < element.min_length) errors[block_id] = t.tooShort(element.min_length);
  }
  return errors;
}
