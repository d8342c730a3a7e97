// A field for files: each is sent to the workspace at once and shared with nobody; the view carries their ids.
import { html, useDesk, useState } from "./ui.js";
import { Icon } from "./icons.js";
import { reason } from "./strings.js";

export function FileField({ element, value, shared, onChange, onCommit }) {
  const { act, t } = useDesk();
  const [names, setNames] = useState({});
  const [problem, setProblem] = useState("");
  const chosen = value ?? [];
  const most = element.max_files ?? 10;
  const put = (ids) => {
    onChange(ids);
    onCommit(ids);
  };
  const take = async ({ target }) => {
    const files = [...target.files].slice(0, most - chosen.length);
    target.value = "";
    const answers = await Promise.all(files.map((file) => act.keepFile(file)));
    const kept = answers.filter(({ ok }) => ok).map(({ file }) => file);
    setNames((old) => ({ ...old, ...Object.fromEntries(kept.map(({ id, name }) => [id, name])) }));
    setProblem(reason(t, answers.find(({ ok }) => !ok)?.error));
    if (kept.length) put([...chosen, ...kept.map(({ id }) => id)]);
  };
  return html`<div class="file-field">
    <input type="file" multiple=${most > 1} accept=${(element.filetypes ?? []).map((one) => `.${one}`).join(",") || null} ...${shared} onChange=${take} />
    ${chosen.length > 0 && html`<ul class="waiting">${chosen.map((id) => html`<li key=${id} class="file"><${Icon} name="file" /><span><b>${names[id] ?? id}</b></span>
      <button type="button" class="quiet" aria-label=${t.dropFile(names[id] ?? id)} onClick=${() => put(chosen.filter((one) => one !== id))}><${Icon} name="close" /></button></li>`)}</ul>`}
    ${problem && html`<p class="problem" role="alert"><${Icon} name="warn" />${problem}</p>`}
  </div>`;
}
