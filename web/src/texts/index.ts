// The language of the page: from its address, else from the browser, else English.
import { en, type Texts } from "./en.ts";
import { zh } from "./zh.ts";

export type Language = "en" | "zh";

let current: Language = "en";
export const language = (): Language => current;

export function setLanguage(next: Language): void {
  current = next;
  document.documentElement.lang = next === "zh" ? "zh-CN" : "en";
}

export function preferredLanguage(fromAddress: string | undefined): Language {
  for (const tag of [fromAddress, ...navigator.languages]) {
    if (tag?.toLowerCase().startsWith("zh")) return "zh";
    if (tag?.toLowerCase().startsWith("en")) return "en";
  }
  return "en";
}

// The text of this key, with {name} replaced by values.name.
export function t(key: keyof Texts, values: Record<string, string | number> = {}): string {
  return (current === "zh" ? zh : en)[key].replace(/\{(\w+)\}/g, (whole, name: string) =>
    name in values ? String(values[name]) : whole,
  );
}

// Fills what index.html marks with data-t (its text) and data-t-label (its label).
export function translatePage(): void {
  document.title = t("page_title");
  for (const element of document.querySelectorAll<HTMLElement>("[data-t]"))
    element.textContent = t(element.dataset.t as keyof Texts);
  for (const element of document.querySelectorAll<HTMLElement>("[data-t-label]"))
    element.setAttribute("aria-label", t(element.dataset.tLabel as keyof Texts));
}
