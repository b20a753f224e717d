// Reading by keys, and what comes next for those who hear the page.
//
// Streamlit scrolls an element of its page, so keys scroll nothing until somebody clicks into it: here Space, the arrows and
// the page keys scroll it wherever the focus is, unless what has the focus needs them. `d` goes to the next mark of what
// differs. Above the answers a sign says that there is more below; a new question begins at its top, is announced, and its
// heading gets the focus.
const KEEPS_KEYS = "input, textarea, select, [contenteditable], canvas, video, audio, .stSidebar, [role=dialog], [role=listbox], "
  + "[role=menu], [role=radio], [role=radiogroup], [role=tab], [role=slider], [role=grid], [role=combobox]";
const IS_PRESSED = "button, a[href], summary, [role=button], [role=checkbox], [role=switch]";
const OVERLAP = 40; // pixels of the lines before that stay on the screen: the last of them may lie behind the sign
const ARROW = 60;
const MARKS = ".audit-text ins, .audit-text del, .audit-text .audit-moved";
const QUESTION = '.st-key-judge [class*="st-key-judge-"], .st-key-go-on [class*="st-key-training-"], '
  + '[class*="st-key-settle-"], [class*="st-key-store-"], [class*="st-key-confirm-"]';

const main = () => document.querySelector(".stMain");
const bar = () => document.querySelector('[data-testid="stLayoutWrapper"]:has(> .st-key-answer-bar)');

// Where the text ends on the screen: the top of the answers, which lie over the end of the page.
const end = () => (bar() || { getBoundingClientRect: () => ({ top: main().getBoundingClientRect().bottom }) }).getBoundingClientRect().top;
const page = () => Math.max(2 * OVERLAP, end() - main().getBoundingClientRect().top) - OVERLAP;

const distance = (event) => ({
  " ": event.shiftKey ? -page() : page(), PageDown: page(), PageUp: -page(), ArrowDown: ARROW, ArrowUp: -ARROW,
  Home: -main().scrollHeight, End: main().scrollHeight,
})[event.key];

const words = { difference: "" };
let live, here, place, guideline, pending;

const say = (text) => {
  if (!live || !live.isConnected) {
    live = document.createElement("div");
    live.className = "audit-hidden";
    live.setAttribute("role", "status");
    live.setAttribute("aria-live", "polite");
    document.body.append(live);
  }
  live.textContent = "";
  setTimeout(() => { live.textContent = text; }, 50);
};

const toNextDifference = () => {
  const marks = [...document.querySelectorAll(MARKS)];
  if (!marks.length) return;
  here?.classList.remove("audit-here");
  const number = (marks.indexOf(here) + 1) % marks.length;
  here = marks[number];
  here.classList.add("audit-here");
  const top = main().getBoundingClientRect().top;
  main().scrollBy({ top: here.getBoundingClientRect().top - top - (end() - top) / 3, behavior: "instant" });
  say(words.difference.replace("NUMBER", number + 1).replace("COUNT", marks.length) + " " + here.textContent);
};

const onKey = (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || !main()) return;
  const target = event.target instanceof Element ? event.target : document.body;
  if (target.closest(KEEPS_KEYS)) return;
  if (event.key === "g") guideline = document.querySelector(".st-key-guideline") ? undefined : "asked";
  if (event.key === "d" && !event.repeat) return toNextDifference();
  if (event.key === " " && target.closest(IS_PRESSED)) return;
  const by = distance(event);
  if (by === undefined) return;
  event.preventDefault();
  main().scrollBy({ top: by, behavior: "instant" });
};

const onClick = (event) => {
  if (!(event.target instanceof Element)) return;
  if (event.target.closest(".audit-next")) toNextDifference();
  if (event.target.closest(".audit-more")) main().scrollBy({ top: page(), behavior: "instant" });
};

const sign = () => {
  const text = bar()?.previousElementSibling;
  const more = Boolean(text) && text.getBoundingClientRect().bottom > end() + 4;
  document.documentElement.classList.toggle("audit-more-below", more);
  document.documentElement.classList.toggle("audit-scrolled", Boolean(bar()) && main().scrollTop > 0);
};

// The name of what is asked now: the key of its first button holds the question.
const asked = () => document.querySelector(QUESTION)?.className.match(/st-key-(\S+)/)[1] || "";

const begin = () => {
  here = undefined;
  main().scrollTop = 0;
  const heading = document.querySelector(".stMain .audit-question");
  if (!heading) return;
  if (!document.activeElement?.closest("input, textarea")) {
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
  }
  say(`${words.next} ${heading.textContent}`);
};

const look = () => {
  pending = undefined;
  if (!main()) return;
  const now = asked();
  if (now !== place) {
    if (place) begin();
    place = now;
  }
  const drawer = document.querySelector(".st-key-guideline");
  if (drawer && guideline === "asked") {
    guideline = undefined;
    const top = main().getBoundingClientRect().top + 48;
    const { top: from, bottom: to } = drawer.getBoundingClientRect();
    if (to > end() || from < top) main().scrollBy({ top: from - top, behavior: "instant" });
  }
  sign();
};
const soon = () => { pending ??= requestAnimationFrame(look); };

export default function ({ data }) {
  Object.assign(words, data.words);
  const seen = new MutationObserver(soon);
  seen.observe(document.body, { childList: true, subtree: true });
  window.addEventListener("keydown", onKey, true);
  window.addEventListener("click", onClick);
  window.addEventListener("scroll", soon, true);
  window.addEventListener("resize", soon);
  soon();
  return () => {
    seen.disconnect();
    window.removeEventListener("keydown", onKey, true);
    window.removeEventListener("click", onClick);
    window.removeEventListener("scroll", soon, true);
    window.removeEventListener("resize", soon);
  };
}
