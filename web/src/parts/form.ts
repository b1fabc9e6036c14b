// The form: four numbers of which any two are enough, the layout, and the visitor's case.
import { byId, make } from "../base/dom.ts";
import * as format from "../base/format.ts";
import type { Case } from "../case.ts";
import { LAYOUTS } from "../planner.ts";
import { release, type Fields, type NumberField } from "../state.ts";
import { t } from "../texts/index.ts";

type TextField = Exclude<keyof Fields, "layout">;

const NUMBERS = [
  ["n", "items", "items_hint"],
  ["p", "rate", "rate_hint"],
  ["m", "memory", "memory_hint"],
  ["k", "hashes", "hashes_hint"],
] as const;
const CASE = [["length", "key_length"], ["load", "load"], ["price", "price"]] as const;

const inputs = {} as Record<TextField, HTMLInputElement>;
const tags = {} as Record<NumberField, HTMLElement>;
const errors = {} as Record<TextField, HTMLElement>;

function field(name: TextField, label: string, hint: string | undefined): HTMLElement {
  const input = make("input", {
    id: `field-${name}`, type: "text", spellcheck: "false", autocapitalize: "off",
    "aria-describedby": `${hint === undefined ? "" : `hint-${name} `}error-${name}`,
  });
  inputs[name] = input;
  errors[name] = make("p", { id: `error-${name}`, class: "error" });
  const head = make("div", { class: "label" }, make("label", { for: `field-${name}` }, label));
  if (name === "n" || name === "p" || name === "m" || name === "k") {
    tags[name] = make("span", { class: "tag" });
    head.append(tags[name]);
  }
  return make("div", { class: "field" }, head, input,
    hint === undefined ? null : make("p", { id: `hint-${name}`, class: "hint" }, hint), errors[name]);
}

// Makes the form anew, as a change of language asks; `changed` is called after every edit.
export function makeForm(fields: Fields, changed: () => void): void {
  const order: NumberField[] = ["p", "n", "m", "k"];
  const numbers = make("fieldset", {}, make("legend", {}, t("numbers")),
    make("p", { class: "hint" }, t("numbers_note")));
  for (const [name, label, hint] of NUMBERS) numbers.append(field(name, t(label), t(hint)));

  const layouts = make("fieldset", {}, make("legend", {}, t("layout")));
  const choice = make("div", { class: "choice" });
  for (const layout of ["", ...LAYOUTS] as const) {
    const radio = make("input", {
      type: "radio", name: "layout", value: layout, id: `layout-${layout || "auto"}`,
      checked: fields.layout === layout,
    });
    radio.addEventListener("change", () => {
      fields.layout = layout;
      changed();
    });
    choice.append(radio, make("label", { for: radio.id }, t(`layout_${layout || "auto"}`)));
  }
  layouts.append(choice);

  const own = make("fieldset", { class: "case" }, make("legend", {}, t("your_case")));
  for (const [name, label] of CASE) own.append(field(name, t(label), undefined));

  const form = byId<HTMLFormElement>("form");
  form.replaceChildren(numbers, layouts, own);
  form.onsubmit = (event) => event.preventDefault();
  for (const [name, input] of Object.entries(inputs) as [TextField, HTMLInputElement][]) {
    input.value = fields[name];
    input.addEventListener("input", () => {
      fields[name] = input.value.trim();
      if (name === "n" || name === "p" || name === "m" || name === "k") {
        order.push(...order.splice(order.indexOf(name), 1));
        release(fields, name, order);
        for (const [other] of NUMBERS) if (other !== name) inputs[other].value = fields[other];
      }
      changed();
    });
  }
}

// Puts what other parts of the page have changed into the form.
export function fillForm(fields: Fields): void {
  for (const [name, input] of Object.entries(inputs) as [TextField, HTMLInputElement][])
    if (input.value.trim() !== fields[name]) input.value = fields[name];
  for (const radio of document.querySelectorAll<HTMLInputElement>("input[name=layout]"))
    radio.checked = radio.value === fields.layout;
}

// An empty field shows what was worked out for it.
export function showInForm(fields: Fields, found: Case): void {
  const { plan } = found;
  const worked: Record<NumberField, string> = {
    n: plan ? format.whole(plan.items) : "",
    p: plan ? format.rate(plan.fpr) : "",
    m: plan ? format.bytes(plan.bits / 8) : "",
    k: plan ? String(plan.hashes) : "",
  };
  for (const [name] of NUMBERS) {
    const empty = fields[name] === "";
    inputs[name].placeholder = empty ? worked[name] : "";
    tags[name].textContent = empty && worked[name] !== "" ? t("solved") : "";
  }
  for (const [name, element] of Object.entries(errors) as [TextField, HTMLElement][]) {
    const text = found.complaints[name] ?? "";
    if (element.textContent !== text) element.textContent = text;
    inputs[name].toggleAttribute("aria-invalid", false);
    if (text !== "") inputs[name].setAttribute("aria-invalid", "true");
  }
}
