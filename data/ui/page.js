// What Streamlit's own page says in English and to developers, said in the reader's language and to readers.
//
// The language of the page, for screen readers and for the choice of letters; Streamlit's own words (menus of tables, names
// of shortcuts, placeholders) in that language; and, when the server is gone, a sentence of ours in place of a dialog about
// terminals. Streamlit tries again by itself, so nothing is to be done.
const GRACE = 1500; // milliseconds: a connection that is back sooner needs no words
const NAMES = ["aria-label", "title", "placeholder"];
// What people and corpora wrote is never touched, whatever it says.
const WRITTEN = "[lang]:not(html), .stMarkdown, .stHtml, .stCode, [role=option], canvas, script, style";
const ESCAPED = /\\([\\`*_{}[\]()#+\-.!|~$:<>&@/])/g; // Streamlit takes labels with their Markdown for names

let words, banner, timer, exact, patterns;

// `pairs` of (as it stands there, as it should): texts, or patterns in which {name} stands for anything.
const learn = (pairs) => {
  exact = new Map(pairs.filter(([from]) => !from.includes("{")));
  patterns = pairs.filter(([from]) => from.includes("{")).map(([from, to]) => {
    const names = [...from.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
    const parts = from.split(/\{\w+\}/).map((part) => part.replace(/[.*+?^$()|[\]\\]/g, "\\$&"));
    return [new RegExp(`^${parts.join("(.+?)")}$`, "s"), names, to];
  });
};

const inWords = (text) => {
  const known = exact.get(text);
  if (known !== undefined) return known;
  for (const [pattern, names, to] of patterns) {
    const match = text.match(pattern);
    if (match) return to.replace(/\{(\w+)\}/g, (_, name) => match[names.indexOf(name) + 1]);
  }
  return text;
};

// A chart is a picture with one alternative text: its marks, named by the fields of the data, are noise to who hears it.
const nameChart = (svg) => {
  const chart = svg.closest("[aria-label]:not(svg)");
  svg.setAttribute("aria-hidden", "true");
  svg.closest("[aria-roledescription]:not(svg)")?.removeAttribute("aria-roledescription");
  if (chart && svg.closest(".stVegaLiteChart")?.contains(chart)) chart.setAttribute("role", "img");
};

const nameElement = (element) => {
  if (element.matches(".stVegaLiteChart svg")) nameChart(element);
  for (const name of NAMES) {
    const before = element.getAttribute(name);
    if (!before) continue;
    const after = inWords(before.replace(ESCAPED, "$1"));
    if (after !== before) element.setAttribute(name, after);
  }
};

const sayText = (node) => {
  const before = node.data.trim();
  if (!before || !node.parentElement || node.parentElement.closest(WRITTEN)) return;
  const after = inWords(before);
  if (after !== before) node.data = node.data.replace(before, after);
};

const say = (root) => {
  if (root.nodeType === Node.TEXT_NODE) return sayText(root);
  if (root.nodeType !== Node.ELEMENT_NODE) return;
  nameElement(root);
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (node.nodeType === Node.TEXT_NODE) sayText(node);
    else nameElement(node);
  }
};

const onChanges = (changes) => {
  for (const { type, target, addedNodes } of changes) {
    if (type === "attributes") nameElement(target);
    else if (type === "characterData") sayText(target);
    else addedNodes.forEach(say);
  }
  connection();
};

const state = () => document.querySelector(".stApp")?.dataset.testConnectionState;

const show = () => {
  banner ??= document.createElement("div");
  banner.className = "audit-gone-banner";
  banner.setAttribute("role", "alert");
  banner.textContent = state() === "DISCONNECTED_FOREVER" ? words.reload : words.gone;
  document.body.append(banner);
  document.documentElement.classList.add("audit-gone");
};

const connection = () => {
  const here = ["CONNECTED", "INITIAL", undefined].includes(state());
  if (here) {
    clearTimeout(timer);
    timer = undefined;
    banner?.remove();
    document.documentElement.classList.remove("audit-gone");
  } else {
    // The dialog comes at once, our sentence after a moment.
    document.documentElement.classList.add("audit-gone");
    timer ??= setTimeout(show, GRACE);
  }
};

export default function ({ data }) {
  words = data.words;
  learn(data.streamlit);
  document.documentElement.lang = data.language;
  const seen = new MutationObserver(onChanges);
  const attributeFilter = [...NAMES, "data-test-connection-state"];
  seen.observe(document.body, { childList: true, subtree: true, characterData: true, attributes: true, attributeFilter });
  say(document.body);
  connection();
  return () => seen.disconnect();
}
