// Marks names with the keyboard: arrows choose words, a digit says what they name, Enter stores. What is marked is kept
// here while the page runs again, and sent to it as places of words: [first, last, kind].
const kept = new Map();
const typing = (target) => target instanceof Element && target.closest("input, textarea, select, [contenteditable]");

export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  const { place, pieces, runs, kinds, choices, words, decides } = data;
  const box = parentElement.querySelector(".audit-mark") ?? parentElement.appendChild(document.createElement("div"));
  box.className = "audit-mark";
  const last = pieces.filter((piece) => piece.word).length - 1;
  if (!kept.has(place)) kept.set(place, { marks: data.before, none: false, at: runs[0] ?? [0, 0], choice: -1 });
  const state = kept.get(place);
  const covers = ([first, behind], word) => first <= word && word <= behind;
  const inside = () => pieces.filter((piece) => piece.word && covers(state.at, piece.number)).map((piece) => piece.text).join(" ");

  const send = () => decides && setStateValue("answer", state.none || state.marks.length ? state.marks : null);
  const mark = (kind) => {
    state.marks = state.marks.filter(([first, behind]) => behind < state.at[0] || first > state.at[1]);
    if (kind !== null) state.marks = [...state.marks, [...state.at, kind]].sort((one, other) => one[0] - other[0]);
    state.none = false;
    const next = runs.find((run) => run[0] > state.at[1]);
    if (kind !== null && next) state.at = next;
    draw(), send();
  };
  const none = () => ((state.marks = []), (state.none = true), draw(), send());
  const choose = () => {
    state.choice = (state.choice + 1) % choices.length;
    [state.marks, state.none] = [choices[state.choice], !choices[state.choice].length];
    draw(), send();
  };
  const store = () => {
    if (state.none || state.marks.length) setTriggerValue("answer", state.marks), kept.delete(place);
  };
  const move = (key, extends_) => {
    const [first, behind] = state.at, by = key === "ArrowRight" ? 1 : -1;
    if (key === "ArrowDown") state.at = runs.find((run) => run[0] > first) ?? state.at;
    else if (key === "ArrowUp") state.at = runs.findLast((run) => run[1] < behind) ?? state.at;
    else if (extends_) state.at = [first, Math.min(last, Math.max(first, behind + by))];
    else state.at = Array(2).fill(Math.min(last, Math.max(0, (by > 0 ? behind : first) + by)));
    draw();
  };
  const onKey = (event) => {
    if (!box.isConnected || typing(event.target) || event.ctrlKey || event.altKey || event.metaKey) return;
    const digit = "123456789".indexOf(event.key);
    if (digit >= 0 && digit < kinds.length) mark(digit);
    else if (event.key === "0") none();
    else if (event.key === "Backspace" || event.key === "Delete") mark(null);
    else if (event.key.startsWith("Arrow")) move(event.key, event.shiftKey);
    else if (event.key === "a" && choices.length) choose();
    else if (event.key === "Enter" && !decides && !(event.target instanceof Element && event.target.closest("button, a, summary"))) store();
    else return;
    event.stopImmediatePropagation();
    event.preventDefault();
  };

  const element = (name, text, kind, action) => {
    const made = Object.assign(document.createElement(name), { textContent: text, className: kind });
    if (action) made.addEventListener("click", action);
    return made;
  };
  const draw = () => {
    const text = element("p", "", "audit-text audit-marked");
    text.lang = data.language;
    for (const piece of pieces) {
      if (!piece.word) { text.append(piece.text); continue; }
      const found = state.marks.find((one) => covers(one, piece.number));
      const shown = element("span", piece.text, (found ? `audit-kind audit-kind-${found[2] % 4}` : "") + (covers(state.at, piece.number) ? " audit-at" : ""),
        (event) => ((state.at = event.shiftKey ? [Math.min(state.at[0], piece.number), Math.max(state.at[1], piece.number)] : [piece.number, piece.number]), draw()));
      text.append(shown);
      if (found && found[1] === piece.number) text.append(element("sup", kinds[found[2]], ""));
    }
    const bar = element("p", "", "audit-kinds");
    kinds.forEach((name, number) => bar.append(element("button", `${number + 1} ${name}`, `audit-kind-${number % 4}`, () => mark(number))));
    bar.append(element("button", `0 ${words.none}`, state.none ? "audit-on" : "", none), element("button", `⌫ ${words.remove}`, "", () => mark(null)));
    if (choices.length) bar.append(element("button", `a ${words.choose}`, "", choose));
    if (!decides) {
      const button = element("button", `⏎ ${words.store}`, "audit-store", store);
      button.disabled = !(state.none || state.marks.length);
      bar.append(button);
    }
    const told = element("p", `${inside()} · ${words.keys}`, "audit-facts");
    told.setAttribute("aria-live", "polite");
    box.replaceChildren(text, bar, told);
    box.querySelector(".audit-at")?.scrollIntoView({ block: "nearest" });
  };
  draw();
  window.addEventListener("keydown", onKey, true);
  return () => window.removeEventListener("keydown", onKey, true);
}
