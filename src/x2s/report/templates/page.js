"use strict";

/* Sorting: a click on a heading sorts by it, a second one the other way. Numbers start with the largest. */
for (const table of document.querySelectorAll("table.sortable")) {
  const headings = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
  headings.forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const numeric = heading.classList.contains("n");
      const before = heading.getAttribute("aria-sort");
      const order = before ? (before === "ascending" ? "descending" : "ascending") : numeric ? "descending" : "ascending";
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      const body = table.tBodies[0];
      const rows = [...body.rows].sort((a, b) => {
        const [x, y] = [a.cells[column], b.cells[column]];
        if ("value" in x.dataset && "value" in y.dataset) return sign * (x.dataset.value - y.dataset.value);
        if ("value" in x.dataset !== "value" in y.dataset) return "value" in x.dataset ? -1 : 1;
        return sign * x.textContent.localeCompare(y.textContent);
      });
      body.append(...rows);
    });
  });
}

const dataElement = document.getElementById("search-data");
if (dataElement) startSearch(JSON.parse(dataElement.textContent));

function startSearch(data) {
  const SHOWN = 8, SUGGESTED = 8;
  const byId = (id) => document.getElementById(id);
  const input = byId("word"), list = byId("suggestions"), status = byId("status"), out = byId("neighbours");
  const ranking = byId("ranking");
  let chosen = null;      // {language, row} of the word on show
  let options = [];       // suggestions on show
  let active = -1;        // the highlighted one

  const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  /* Case and accents do not matter for finding a word; vowel signs of other scripts do, so only U+0300..036F go. */
  const fold = (word) => word.toLowerCase().normalize("NFD").replace(/[\u0300-\u036f]/g, "");

  const languages = data.languages.map((language) => ({
    ...language,
    folded: language.words.map(fold),
    index: new Map(language.words.map((word, row) => [word, row])),
  }));

  /* Vectors are unpacked at the first look-up, not while the page opens. */
  function unpack(language) {
    if (language.rows) return;
    language.rows = new Int8Array(bytes(language.vectors).buffer);
    language.r = bytes(language.hubness);
    language.length = new Float32Array(language.words.length);
    for (let row = 0; row < language.length.length; row++) {
      let sum = 0;
      for (let i = row * data.dimension; i < (row + 1) * data.dimension; i++) sum += language.rows[i] ** 2;
      language.length[row] = Math.sqrt(sum) || 1;
    }
  }

  function nearest(source, row, target) {
    unpack(source);
    unpack(target);
    const d = data.dimension, n = target.words.length;
    const query = source.rows.subarray(row * d, (row + 1) * d);
    const sourcePlace = languages.indexOf(source), csls = ranking.value === "csls";
    const scored = [];
    for (let other = 0; other < n; other++) {
      if (source === target && other === row) continue;
      let dot = 0;
      for (let i = 0, j = other * d; i < d; i++, j++) dot += query[i] * target.rows[j];
      const cosine = dot / (source.length[row] * target.length[other]);
      /* The query's own r is the same for all candidates: it does not change their order. */
      const score = csls ? 2 * cosine - target.r[sourcePlace * n + other] / 255 : cosine;
      scored.push({ row: other, cosine, score });
    }
    return scored.sort((a, b) => b.score - a.score).slice(0, SHOWN);
  }

  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  function wordButton(language, row) {
    const button = element("button", { type: "button", class: "word", dir: "auto", lang: language.code }, language.words[row]);
    button.addEventListener("click", () => choose({ language, row }, true));
    return button;
  }

  function show() {
    const { language, row } = chosen;
    const word = language.words[row];
    status.replaceChildren(element("bdi", { lang: language.code }, element("strong", {}, word)), ` is ${language.name} word number ${row + 1} by frequency.`);
    const others = languages.filter((other) => other !== language && other.index.has(word));
    if (others.length) {
      status.append(" The same spelling is also in ");
      others.forEach((other, position) => {
        const button = element("button", { type: "button", class: "word" }, other.name);
        button.addEventListener("click", () => choose({ language: other, row: other.index.get(word) }, true));
        status.append(position ? ", " : "", button);
      });
      status.append(".");
    }
    out.replaceChildren(...languages.map((target) => {
      const items = nearest(language, row, target).map((hit) => element("li", {},
        wordButton(target, hit.row),
        meter(hit.cosine),
        element("span", { class: "number" }, hit.cosine.toFixed(2))));
      return element("section", { "data-language": target.code }, element("h3", {}, target.name), element("ol", {}, ...items));
    }));
  }

  function meter(share) {
    const bar = element("i");
    bar.style.setProperty("--share", Math.max(0, share).toFixed(3));
    return element("span", { class: "meter", "aria-hidden": "true" }, bar);
  }

  function choose(found, intoBox) {
    chosen = found;
    if (intoBox) input.value = found.language.words[found.row];
    close();
    show();
    try {
      history.replaceState(null, "", `#word=${found.language.code}:${encodeURIComponent(found.language.words[found.row])}`);
    } catch { /* A word with half a surrogate pair has no address; browsers limit how often it may change. */ }
  }

  /* Exact spelling first, then equal but for case and accents, then words that begin so; by frequency within each. */
  function matches(text, limit) {
    const wanted = fold(text);
    if (!wanted) return [];
    const found = [];
    for (const language of languages) {
      language.folded.forEach((word, row) => {
        if (word.startsWith(wanted)) {
          const kind = language.words[row] === text ? 0 : word === wanted ? 1 : 2;
          found.push({ language, row, kind });
        }
      });
    }
    return found.sort((a, b) => a.kind - b.kind || a.row - b.row).slice(0, limit);
  }

  /* For an unknown word: those that share its longest known beginning. */
  function near(text) {
    for (let length = [...text].length - 1; length >= 2; length--) {
      const found = matches([...text].slice(0, length).join(""), SUGGESTED);
      if (found.length) return found;
    }
    return [];
  }

  function submit() {
    const text = input.value.trim();
    const [best] = matches(text, 1);
    if (!text) return;
    if (best && best.kind < 2) return choose(best, false);
    chosen = null;
    close();
    out.replaceChildren();
    const close_ones = best ? matches(text, SUGGESTED) : near(text);
    status.replaceChildren(element("bdi", {}, element("strong", {}, text)), ` is not among the ${languages[0].words.length.toLocaleString("en")} most frequent words of any language here.`);
    if (close_ones.length) {
      status.append(" Near it: ");
      for (const { language, row } of close_ones) status.append(wordButton(language, row), element("span", { class: "muted" }, ` (${language.name}) `));
    }
  }

  /* --- the list of suggestions, by the ARIA combobox pattern --- */
  function open() {
    options = matches(input.value.trim(), SUGGESTED);
    active = -1;
    list.replaceChildren(...options.map(({ language, row }, position) => {
      const item = element("li", { role: "option", id: `option-${position}`, "aria-selected": "false" },
        element("span", { dir: "auto", lang: language.code }, language.words[row]), element("span", { class: "muted" }, language.name));
      item.addEventListener("mousedown", (event) => { event.preventDefault(); choose(options[position], true); });
      return item;
    }));
    list.hidden = options.length === 0;
    input.setAttribute("aria-expanded", String(!list.hidden));
    input.removeAttribute("aria-activedescendant");
  }

  function close() {
    list.hidden = true;
    active = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function move(step) {
    if (list.hidden) return open();
    active = (active + step + options.length + (active < 0 && step < 0 ? 1 : 0)) % options.length;
    [...list.children].forEach((item, position) => item.setAttribute("aria-selected", String(position === active)));
    input.setAttribute("aria-activedescendant", `option-${active}`);
  }

  input.addEventListener("input", open);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "ArrowDown") { event.preventDefault(); move(1); }
    else if (event.key === "ArrowUp") { event.preventDefault(); move(-1); }
    else if (event.key === "Escape") close();
    else if (event.key === "Enter") {
      event.preventDefault();
      if (active >= 0 && !list.hidden) choose(options[active], true);
      else submit();
    }
  });
  byId("search-form").addEventListener("submit", (event) => { event.preventDefault(); submit(); });
  ranking.addEventListener("change", () => { if (chosen) show(); });

  const find = (word, code) => {
    const language = languages.find((l) => l.code === code);
    const row = language && language.index.get(word);
    return row === undefined ? null : { language, row };
  };
  const examples = data.examples.map(([word, code]) => find(word, code)).filter(Boolean);
  byId("examples").append(...examples.map(({ language, row }) => wordButton(language, row)));

  /* A page that was linked with a word opens on it, any other on the first example. */
  let wanted = null;
  try {
    const [, code, word] = /^#word=([^:]+):(.+)$/s.exec(location.hash) ?? [];
    if (code) wanted = find(decodeURIComponent(word), code);
  } catch { /* not an address of ours */ }
  wanted ??= examples[0] ?? null;
  if (wanted) {
    chosen = wanted;
    input.value = wanted.language.words[wanted.row];
    show();
  }
}
