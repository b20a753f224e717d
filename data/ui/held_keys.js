// Drops the repeats of a held key and the second click of a double click, before Streamlit's shortcuts see them.
const typing = (target) => target instanceof Element && target.closest("input, textarea, select, [contenteditable]");
const drop = (event) => {
  event.stopImmediatePropagation();
  event.preventDefault();
};
const onKey = (event) => {
  if (event.repeat && (event.key.length === 1 || event.key === "Enter") && !typing(event.target)) return drop(event);
  // Enter stores the labels that are on: it does not switch the one that was clicked last, nor press the button twice.
  // On any other button it presses that one, and stores nothing.
  const on = (selector) => event.target instanceof Element && event.target.closest(selector);
  if (event.key === "Enter" && document.querySelector(".st-key-judge-together")) {
    if (on(".st-key-judge, .st-key-judge-together, .st-key-reasons")) event.preventDefault();
    else if (on("[data-testid=stSidebarNav] a")?.pathname === location.pathname) event.preventDefault(); // clicked to come here
    else if (on("button, a, summary")) event.stopImmediatePropagation();
  }
  // A flag needs a comment: f with none yet goes to its field, after the key, so that no f is written there.
  const field = document.querySelector('[class*="st-key-comment-"] input');
  const bare = !event.ctrlKey && !event.altKey && !event.metaKey;
  if (event.key === "f" && bare && field && !field.value.trim() && !typing(event.target)) {
    setTimeout(() => field.focus());
  }
  // m writes a comment, and Enter leaves it: the next key answers.
  if (event.key === "m" && bare && field && !typing(event.target)) {
    drop(event);
    field.focus();
  }
  if (event.key === "Enter" && field && event.target === field) setTimeout(() => field.blur());
  // Another reason needs words, too.
  const words = document.querySelector('[class*="st-key-words-"] textarea');
  const other = document.querySelector('.st-key-reasons [class*="-other"]');
  if (event.key === "p" && bare && other && words && !words.value.trim() && !typing(event.target)) {
    setTimeout(() => words.focus(), 50);
  }
};
const onClick = (event) => {
  if (event.detail > 1 && event.target instanceof Element && event.target.closest(".st-key-judge, .st-key-judge-together, .st-key-reasons, .st-key-beside")) drop(event);
};

// The guideline beside the text scrolls by itself: keys reach it, and it has a name.
const label = (name) => {
  for (const box of document.querySelectorAll('[class*="st-key-guideline-beside"]:not([tabindex])')) {
    box.tabIndex = 0;
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", name);
  }
};

export default function ({ data }) {
  const watch = new MutationObserver(() => label(data.guideline));
  watch.observe(document.body, { childList: true, subtree: true });
  label(data.guideline);
  window.addEventListener("keydown", onKey, true);
  window.addEventListener("click", onClick, true);
  return () => {
    watch.disconnect();
    window.removeEventListener("keydown", onKey, true);
    window.removeEventListener("click", onClick, true);
  };
}
