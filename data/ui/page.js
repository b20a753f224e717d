// What Streamlit's own page says in English and to developers, said in the reader's language and to readers.
//
// The language of the page, for screen readers and for the choice of letters; the names of shortcuts; and, when the server is
// gone, a sentence of ours in place of a dialog about terminals. Streamlit tries again by itself, so nothing is to be done.
const GRACE = 1500; // milliseconds: a connection that is back sooner needs no words

let words, banner, timer;

const nameShortcuts = () => {
  for (const key of document.querySelectorAll('kbd[aria-label^="Shortcut "]')) {
    if (words.shortcut !== "Shortcut") key.setAttribute("aria-label", key.ariaLabel.replace("Shortcut", words.shortcut));
  }
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
  document.documentElement.lang = data.language;
  const seen = new MutationObserver(() => {
    nameShortcuts();
    connection();
  });
  const attributeFilter = ["aria-label", "data-test-connection-state"];
  seen.observe(document.body, { childList: true, subtree: true, attributes: true, attributeFilter });
  nameShortcuts();
  connection();
  return () => seen.disconnect();
}
