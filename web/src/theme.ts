// Light, dark, or as the system has it. A page from a disk may be denied its storage.
import { byId } from "./base/dom.ts";
import { language, t } from "./texts/index.ts";

const THEMES = ["auto", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];
const KEY = "bloomery-planner-theme";

let current: Theme = "auto";

function stored(): Theme {
  try {
    return THEMES.find((theme) => theme === localStorage.getItem(KEY)) ?? "auto";
  } catch {
    return "auto";
  }
}

function apply(): void {
  if (current === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = current;
  const button = byId("theme");
  const colon = language() === "zh" ? "：" : ": ";
  button.textContent = `◐ ${t(`theme_${current}`)}`;
  button.setAttribute("aria-label", `${t("theme")}${colon}${t(`theme_${current}`)}`);
}

// `changed` is called when the colours change, by the button or by the system.
export function startTheme(changed: () => void): void {
  current = stored();
  apply();
  byId("theme").addEventListener("click", () => {
    current = THEMES[(THEMES.indexOf(current) + 1) % THEMES.length] ?? "auto";
    try {
      localStorage.setItem(KEY, current);
    } catch {
      // Then it holds until the page is closed.
    }
    apply();
    changed();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
}

export const translateTheme = apply;
