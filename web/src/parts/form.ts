// The form: the kind of filter, the numbers that it is planned from, the layout, the visitor's case.
import { byId, make } from "../base/dom.ts";
import * as format from "../base/format.ts";
import type { Case } from "../case.ts";
import { KINDS, layoutsOf, type Kind, type Layout } from "../planner.ts";
import { fieldsOf, release, type Fields, type NumberField } from "../state.ts";
import { t } from "../texts/index.ts";

type TextField = Exclude<keyof Fields, "layout" | "kind">;

const NUMBERS: readonly NumberField[] = ["n", "p", "m", "k"];
const LABELS = {
  n: ["items", "items_hint"],
  p: ["rate", "rate_hint"],
  m: ["memory", "memory_hint"],
  k: ["hashes", "hashes_hint"],
  growth: ["growth", "growth_hint"],
  window: ["window", "window_hint"],
  slices: ["slices", "slices_hint"],
  delta: ["delta", "delta_hint"],
  length: ["key_length", undefined],
  load: ["load", undefined],
  price: ["price", undefined],
} as const;
const CASE = ["length", "load", "price"] as const;

let inputs: Partial<Record<TextField, HTMLInputElement>> = {};
let tags: Partial<Record<TextField, HTMLElement>> = {};
let errors: Partial<Record<keyof Fields, HTMLElement>> = {};

const isNumber = (name: keyof Fields): name is NumberField => (NUMBERS as readonly string[]).includes(name);
const entries = <T>(map: Partial<Record<TextField, T>>) => Object.entries(map) as [TextField, T][];

function errorOf(name: keyof Fields): HTMLElement {
  return (errors[name] = make("p", { id: `error-${name}`, class: "error" }));
}

function labelOf(name: TextField, kind: Kind): string {
  if (name === "n" && kind === "scalable") return t("items_first");
  if (name === "n" && kind === "window") return t("items_window");
  return t(LABELS[name][0]);
}

function field(name: TextField, kind: Kind): HTMLElement {
  const hint = LABELS[name][1];
  const input = make("input", {
    id: `field-${name}`, type: "text", spellcheck: "false", autocapitalize: "off",
    "aria-describedby": `${hint === undefined ? "" : `hint-${name} `}error-${name}`,
  });
  inputs[name] = input;
  const tag = make("span", { class: "tag" });
  tags[name] = tag;
  return make("div", { class: "field" },
    make("div", { class: "label" }, make("label", { for: `field-${name}` }, labelOf(name, kind)), tag), input,
    hint === undefined ? null : make("p", { id: `hint-${name}`, class: "hint" }, t(hint)), errorOf(name));
}

// A choice of one; `name` is that of the radio buttons.
function choice<T extends string>(name: string, values: readonly (readonly [T, string, string])[], chosen: T, choose: (value: T) => void): HTMLElement {
  const group = make("div", { class: "choice" });
  for (const [value, id, text] of values) {
    const radio = make("input", { type: "radio", name, value, id, checked: value === chosen });
    radio.addEventListener("change", () => choose(value));
    group.append(radio, make("label", { for: id }, text));
  }
  return group;
}

// What the page does with an edit.
export interface Changes {
  edited(): void;
  kind(kind: Kind): void;
}

// Makes the form again, in another language or for another kind.
export function makeForm(fields: Fields, changes: Changes): void {
  inputs = {};
  tags = {};
  errors = {};
  const { kind } = fields;
  const has = fieldsOf(kind) as readonly TextField[];
  const kinds = make("fieldset", { class: "kinds" }, make("legend", {}, t("kind")),
    choice("kind", KINDS.map((each) => [each, `kind-${each}`, t(`kind_${each}`)] as const), kind, changes.kind),
    make("p", { class: "hint" }, t(`kind_${kind}_is`)), errorOf("kind"));
  const numbers = make("fieldset", { class: "numbers" }, make("legend", {}, t("numbers")),
    make("p", { class: "hint" }, t(has.includes("m") ? "numbers_note" : "numbers_note_both")),
    ...has.map((name) => field(name, kind)));
  const layouts = ["", ...layoutsOf(kind)] as const;
  const layout = make("fieldset", {}, make("legend", {}, t(kind === "counting" ? "counters" : "layout")),
    choice<Layout | "">("layout", layouts.map((each) => [each, `layout-${each || "auto"}`, t(`layout_${each || "auto"}`)] as const),
      fields.layout, (value) => {
        fields.layout = value;
        changes.edited();
      }), errorOf("layout"));
  const own = make("fieldset", { class: "case" }, make("legend", {}, t("your_case")), ...CASE.map((name) => field(name, kind)));

  const form = byId<HTMLFormElement>("form");
  // Of one layout there is nothing to choose.
  form.replaceChildren(...[kinds, numbers, layoutsOf(kind).length > 1 ? layout : null, own].filter((each) => each !== null));
  form.onsubmit = (event) => event.preventDefault();
  const order: NumberField[] = ["p", "n", "m", "k"];
  for (const [name, input] of entries(inputs)) {
    input.value = fields[name];
    input.addEventListener("input", () => {
      fields[name] = input.value.trim();
      if (isNumber(name)) {
        order.push(...order.splice(order.indexOf(name), 1));
        release(fields, name, order);
        for (const [other, its] of entries(inputs)) if (other !== name) its.value = fields[other];
      }
      changes.edited();
    });
  }
}

// Puts what other parts of the page have changed into the form.
export function fillForm(fields: Fields): void {
  for (const [name, input] of entries(inputs)) if (input.value.trim() !== fields[name]) input.value = fields[name];
  for (const radio of document.querySelectorAll<HTMLInputElement>("input[name=layout]"))
    radio.checked = radio.value === fields.layout;
}

// An empty field shows what was worked out for it; a complaint stands at its field.
export function showInForm(fields: Fields, found: Case): void {
  const { plan } = found;
  const worked: Partial<Record<TextField, string>> = plan ? {
    n: format.whole(plan.items), p: format.rate(plan.fpr), m: format.bytes(plan.bytes), k: String(plan.hashes),
    growth: String(plan.growth), slices: String(plan.slices),
  } : {};
  for (const [name, input] of entries(inputs)) {
    const text = fields[name] === "" ? (worked[name] ?? "") : "";
    input.placeholder = text;
    const tag = tags[name];
    if (tag) tag.textContent = text === "" ? "" : t(isNumber(name) ? "solved" : "by_default");
  }
  for (const [name, element] of Object.entries(errors) as [keyof Fields, HTMLElement][]) {
    const text = found.complaints[name] ?? "";
    if (element.textContent !== text) element.textContent = text;
    const input = inputs[name as TextField];
    if (text !== "") input?.setAttribute("aria-invalid", "true");
    else input?.removeAttribute("aria-invalid");
  }
}
