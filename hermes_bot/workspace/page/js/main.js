// Where the page begins.
import { html, render } from "./ui.js";
import { App } from "./app.js";
import { Store } from "./store.js";

const store = new Store();
render(html`<${App} store=${store} />`, document.getElementById("workspace"));
store.start();
