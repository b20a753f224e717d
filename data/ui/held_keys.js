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
    else if (on("button, a, summary")) event.stopImmediatePropagation();
  }
  // A flag needs a comment: f with none yet goes to its field, after the key, so that no f is written there.
  const field = document.querySelector('[class*="st-key-comment-"] input');
  const bare = !event.ctrlKey && !event.altKey && !event.metaKey;
  if (event.key === "f" && bare && field && !field.value.trim() && !typing(event.target)) {
    setTimeout(() => field.focus());
  }
  // So does another reason, which needs words.
  const words = document.querySelector('[class*="st-key-words-"] textarea');
  const other = document.querySelector('.st-key-reasons [class*="-other"]');
  if (event.key === "p" && bare && other && words && !words.value.trim() && !typing(event.target)) {
    setTimeout(() => words.focus(), 50);
  }
};
const onClick = (event) => {
  if (event.detail > 1 && event.target instanceof Element && event.target.closest(".st-key-judge, .st-key-judge-together, .st-key-reasons, .st-key-beside")) drop(event);
};

export default function () {
  window.addEventListener("keydown", onKey, true);
  window.addEventListener("click", onClick, true);
  return () => {
    window.removeEventListener("keydown", onKey, true);
    window.removeEventListener("click", onClick, true);
  };
}
