// The page: state in, every part drawn again. Nothing is fetched, nothing is sent.
import "./style.css";
import { workOut, type Case } from "./case.ts";
import { showAnswer, sentenceOf } from "./parts/answer.ts";
import { showCopy } from "./parts/copy.ts";
import { showCurves } from "./parts/curves.ts";
import { fillForm, makeForm, showInForm, type Changes } from "./parts/form.ts";
import { showFormulas } from "./parts/formulas.ts";
import { showKind } from "./parts/kinds.ts";
import { showLayouts } from "./parts/layouts.ts";
import { showPicture } from "./parts/picture.ts";
import { showRedis } from "./parts/redis.ts";
import { markRow, showHandExample, showTable, type UseCell } from "./parts/table.ts";
import { byId } from "./base/dom.ts";
import { addressOf, adoptKind, readAddress } from "./state.ts";
import { preferredLanguage, setLanguage, translatePage, type Language } from "./texts/index.ts";
import { startTheme, translateTheme } from "./theme.ts";

const state = readAddress(location.hash);
let found: Case;
let speech = 0;

function draw(): void {
  found = workOut(state.fields);
  history.replaceState(null, "", addressOf(state) || location.pathname + location.search);
  showInForm(state.fields, found);
  showAnswer(found);
  showKind(found);
  showCurves(found);
  showFormulas(found);
  showLayouts(found, (layout) => {
    state.fields.layout = layout;
    fillForm(state.fields);
    draw();
    byId(`layout-${layout}`).focus();
  });
  showCopy(found);
  showRedis(found);
  markRow(found);
  // Not at every key: a screen reader would be talking all the time.
  clearTimeout(speech);
  speech = setTimeout(() => (byId("spoken").textContent = sentenceOf(found)), 700);
}

const changes: Changes = {
  edited: draw,
  kind: (kind) => {
    adoptKind(state.fields, kind, found.plan);
    makeForm(state.fields, changes);
    draw();
    byId(`kind-${kind}`).focus();
  },
};

const useCell: UseCell = (bitsPerKey, hashes, layout) => {
  Object.assign(state.fields, {
    kind: "plain", n: state.fields.n === "" ? "100M" : state.fields.n, p: "", m: `${bitsPerKey} bits/key`, k: String(hashes), layout,
  });
  makeForm(state.fields, changes);
  draw();
  goTo("plan");
};

// The # holds the state, so links within the page only scroll.
function goTo(id: string): void {
  const target = byId(id);
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  target.scrollIntoView({ behavior: still ? "auto" : "smooth", block: "start" });
  if (!target.hasAttribute("tabindex")) target.tabIndex = -1;
  target.focus({ preventScroll: true });
}

function speak(language: Language): void {
  setLanguage(language);
  translatePage();
  translateTheme();
  for (const button of document.querySelectorAll<HTMLElement>("[data-language]"))
    button.setAttribute("aria-pressed", String(button.dataset.language === language));
  makeForm(state.fields, changes);
  showTable(useCell);
  showHandExample((bitsPerKey, hashes, layout) => {
    state.fields.n = "100M";
    useCell(bitsPerKey, hashes, layout);
  });
  showPicture();
  draw();
}

startTheme(() => showCurves(found));
speak(preferredLanguage(state.language));
for (const button of document.querySelectorAll<HTMLElement>("[data-language]"))
  button.addEventListener("click", () => {
    state.language = button.dataset.language as Language;
    speak(state.language);
  });
for (const link of document.querySelectorAll<HTMLAnchorElement>('a[href^="#"]'))
  link.addEventListener("click", (event) => {
    event.preventDefault();
    goTo(link.hash.slice(1));
  });
addEventListener("hashchange", () => {
  const next = readAddress(location.hash);
  Object.assign(state, next);
  speak(preferredLanguage(next.language));
});
