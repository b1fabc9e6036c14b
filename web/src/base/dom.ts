// Elements made in one call.

type Child = Node | string | null | undefined;

// make("p", { class: "note" }, "text"): attributes that are undefined or false are left out.
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string | number | boolean | undefined> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : String(value));
  for (const child of children) if (child !== null && child !== undefined) element.append(child);
  return element;
}

export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`no element #${id}`);
  return element as T;
}

// The text with what stands in ^[...] raised.
export function raised(text: string): DocumentFragment {
  const line = document.createDocumentFragment();
  text.split(/\^\[([^\]]*)\]/).forEach((part, i) => line.append(i % 2 === 0 ? part : make("sup", {}, part)));
  return line;
}
