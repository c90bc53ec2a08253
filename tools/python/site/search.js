// Search in names, members and headings: siteIndex is a list of [name, address, summary, kind].
"use strict";
(() => {
  const root = document.body.dataset.root;
  const input = document.querySelector(".search input");
  const list = document.querySelector(".search ol");
  const details = document.querySelector("nav details");
  const wide = window.matchMedia("(min-width: 900px)");
  const unfold = () => { details.open = wide.matches; };
  wide.addEventListener("change", unfold);
  unfold();
  const current = document.querySelector("nav [aria-current]");
  if (current && wide.matches) {
    const nav = document.querySelector("nav");
    nav.scrollTop = current.offsetTop - nav.clientHeight / 2;
  }
  let chosen = -1;

  // Greater is better; 0: no match.
  const score = ([name, , summary, kind], words) => {
    const lower = name.toLowerCase();
    const last = lower.split("::").pop();
    let sum = 0;
    for (const word of words) {
      let s = 0;
      if (lower === word || last === word) s = 100;
      else if (last.startsWith(word) || lower.startsWith(word)) s = 60 - Math.min(20, last.length - word.length);
      else if (lower.includes(word)) s = 30 - Math.min(20, lower.indexOf(word));
      else if (summary.toLowerCase().includes(word)) s = 5;
      if (s === 0) return 0;
      sum += s;
    }
    return sum + {function: 3, type: 2, page: 1}[kind] || sum;
  };

  const mark = () => {
    [...list.children].forEach((item, i) => item.classList.toggle("chosen", i === chosen));
    if (chosen >= 0) list.children[chosen].scrollIntoView({block: "nearest"});
  };

  const show = () => {
    const words = input.value.toLowerCase().replace(/^(cq|calque)::/, "").split(/\s+/).filter(Boolean);
    const found = words.length === 0 ? [] : window.siteIndex
      .map((entry) => [score(entry, words), entry])
      .filter(([s]) => s > 0)
      .sort((a, b) => b[0] - a[0] || a[1][0].length - b[1][0].length)
      .slice(0, 30);
    list.replaceChildren(...found.map(([, [name, address, summary]]) => {
      const item = document.createElement("li");
      const link = document.createElement("a");
      const strong = document.createElement("strong");
      const small = document.createElement("small");
      link.href = root + address;
      strong.textContent = name;
      small.textContent = summary;
      link.append(strong, " ", small);
      item.append(link);
      return item;
    }));
    if (words.length > 0 && found.length === 0) {
      const item = document.createElement("li");
      item.textContent = "Nothing found";
      list.append(item);
    }
    list.hidden = words.length === 0;
    chosen = found.length > 0 ? 0 : -1;
    mark();
  };

  input.addEventListener("input", show);
  input.addEventListener("focus", show);
  input.addEventListener("keydown", (event) => {
    const count = list.querySelectorAll("a").length;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (count > 0) chosen = (chosen + (event.key === "ArrowDown" ? 1 : count - 1)) % count;
      mark();
      event.preventDefault();
    } else if (event.key === "Enter" && chosen >= 0) {
      list.hidden = true;
      location.href = list.children[chosen].querySelector("a").href;
    } else if (event.key === "Escape") {
      input.value = "";
      show();
      input.blur();
    }
  });
  list.addEventListener("click", () => { list.hidden = true; });
  document.addEventListener("click", (event) => {
    if (!event.target.closest(".search")) list.hidden = true;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !event.target.closest("input, textarea")) {
      input.focus();
      event.preventDefault();
    }
  });
  const asked = new URLSearchParams(location.search).get("search");
  if (asked) {
    input.value = asked;
    input.focus();
    show();
  }
})();
