// The page's one door to its view library: templates, hooks, and the context that every component reads.
import { createContext, h } from "preact";
import { useContext } from "preact/hooks";
import htm from "htm";

export { render } from "preact";
export { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

export const html = htm.bind(h);

// Carries {state, act, t}: what is shown, what can be done, and the strings of the chosen language.
export const Desk = createContext(null);
export const useDesk = () => useContext(Desk);

export const classes = (...names) => names.filter(Boolean).join(" ");
