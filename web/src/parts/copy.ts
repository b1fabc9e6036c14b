// The lines to copy, each with its button.
import { byId, make } from "../base/dom.ts";
import type { Case } from "../case.ts";
import { cppLines, redisLine, toolLine } from "../commands.ts";
import { t } from "../texts/index.ts";

// The old way works where a page from a disk may not use the clipboard.
async function putOnClipboard(text: string, source: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    getSelection()?.selectAllChildren(source);
    return document.execCommand("copy");
  }
}

function block(what: string, text: string, note = ""): HTMLElement {
  const code = make("code", {}, text);
  const button = make("button", { type: "button", class: "small", "aria-label": t("copy_of", { what }) }, t("copy"));
  const said = make("span", { class: "said", role: "status" });
  button.addEventListener("click", async () => {
    said.textContent = t((await putOnClipboard(text, code)) ? "copied" : "copy_failed");
    setTimeout(() => said.replaceChildren(), 2500);
  });
  return make("div", { class: "copy" },
    make("div", { class: "label" }, make("h3", {}, what), said, button),
    make("pre", { tabindex: 0, "aria-label": what }, code),
    note === "" ? null : make("p", { class: "hint" }, note));
}

export function showCopy(found: Case): void {
  const { plan } = found;
  byId("copy-title").closest("section")?.toggleAttribute("hidden", !plan);
  if (!plan) return;
  byId("copy").replaceChildren(
    block(t("copy_tool"), toolLine(found)),
    block(t("copy_cpp"), cppLines(found, plan)),
    block(t(plan.kind === "plain" || plan.kind === "scalable" ? "copy_redis" : "copy_redis_own"), redisLine(found, plan),
      plan.kind === "plain" ? t("copy_redis_note") : ""),
    block(t("copy_link"), location.href),
  );
}
