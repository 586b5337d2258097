// What pages do besides: progress of an import, live rows, and names for predicates. Everything else works without.
"use strict";

// Numbers that are still being counted come when they are known.
const counted = [...document.querySelectorAll("[data-count]")];
if (counted.length) {
  const ask = async () => {
    const names = counted.map((item) => "of=" + encodeURIComponent(item.dataset.count)).join("&");
    const answer = await fetch("/counts.json?" + names);
    if (!answer.ok) return;
    const { counts } = await answer.json();
    for (const item of counted) {
      const count = counts[item.dataset.count];
      item.textContent = "phrase" in item.dataset ? count.phrase : count.text;
    }
    if (Object.values(counts).some((count) => !count.isCountComplete)) setTimeout(ask, 500);
  };
  setTimeout(ask, 200);
}

const job = document.getElementById("job");
if (job) {
  const events = new EventSource(job.dataset.events);
  const bar = job.querySelector("progress");
  const text = document.getElementById("job-text");
  events.onmessage = (event) => {
    const state = JSON.parse(event.data);
    if (state.value !== null) bar.value = state.value;
    text.textContent = state.text;
    if (!["checking", "trying", "importing"].includes(state.phase)) {
      events.close();
      location.reload();
    }
  };
}

const live = document.getElementById("live");
if (live) {
  const body = live.tBodies[0];
  const count = document.getElementById("live-count");
  const sign = document.getElementById("live-state");
  const show = (text, style) => {
    sign.textContent = text;
    sign.className = "badge " + style;
  };
  let told = count.textContent;
  const known = new Map();
  let isFirst = true;
  let waiting = null;
  let isBusy = false;

  const cell = (value) => {
    const td = document.createElement("td");
    td.className = value.style;
    if (value.address) {
      const link = document.createElement("a");
      link.href = value.address;
      link.textContent = value.text;
      td.append(link);
    } else {
      td.textContent = value.text;
    }
    return td;
  };
  const line = (row) => {
    const tr = document.createElement("tr");
    tr.dataset.id = row.id;
    const open = document.createElement("td");
    open.className = "open";
    const link = document.createElement("a");
    link.href = row.address;
    link.textContent = "→";
    link.setAttribute("aria-label", row.label);
    open.append(link);
    tr.append(open, ...row.cells.map(cell));
    return tr;
  };
  // What is the same stays the same element, and with it the focus.
  const update = (tr, row, before) => {
    row.cells.forEach((value, place) => {
      const old = before[place];
      if (old && old.text === value.text && old.style === value.style && old.address === value.address) return;
      const td = cell(value);
      if (!isFirst) td.classList.add("changed");
      tr.cells[place + 1].replaceWith(td);
    });
  };
  // Some rows a frame: a thousand that change at once do not hold up the page.
  const render = () => {
    const rows = waiting;
    waiting = null;
    isBusy = true;
    const old = new Map([...body.rows].map((tr) => [tr.dataset.id, tr]));
    const ids = new Set(rows.map((row) => row.id));
    for (const [id, tr] of old) {
      if (ids.has(id)) continue;
      tr.remove();
      known.delete(id);
    }
    let place = 0;
    const some = () => {
      const end = performance.now() + 12;
      while (place < rows.length && performance.now() < end) {
        const row = rows[place];
        let tr = old.get(row.id);
        if (!tr) {
          tr = line(row);
          if (!isFirst) tr.className = "came";
        } else if (known.has(row.id) || isFirst) {
          update(tr, row, known.get(row.id) || []);
        }
        if (body.rows[place] !== tr) body.insertBefore(tr, body.rows[place] || null);
        known.set(row.id, row.cells);
        place += 1;
      }
      if (place < rows.length) return requestAnimationFrame(some);
      isFirst = false;
      isBusy = false;
      if (count.textContent !== told) count.textContent = told;
      if (waiting) requestAnimationFrame(render);
    };
    some();
  };
  const events = new EventSource(live.dataset.events);
  events.onopen = () => show("live", "good");
  events.onerror = () => show("not connected", "warn");
  events.onmessage = (event) => {
    const isNext = waiting === null && !isBusy;
    ({ rows: waiting, text: told } = JSON.parse(event.data));
    if (isNext) requestAnimationFrame(render);
  };
  events.addEventListener("fault", (event) => {
    const fault = JSON.parse(event.data);
    events.close();
    show(fault.help ? `${fault.message} (${fault.help})` : fault.message, "bad");
    const again = document.createElement("a");
    again.href = location.href;
    again.textContent = "Load it again";
    sign.after(" ", again);
  });
}

const where = document.getElementById("where");
if (where && where.dataset.names) {
  const names = JSON.parse(where.dataset.names);
  const list = document.createElement("ul");
  list.className = "names";
  list.id = "names";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Names");
  list.hidden = true;
  where.parentElement.append(list);
  where.setAttribute("role", "combobox");
  where.setAttribute("aria-controls", "names");
  where.setAttribute("aria-expanded", "false");
  where.setAttribute("aria-autocomplete", "list");
  let chosen = -1;

  const word = () => {
    const before = where.value.slice(0, where.selectionStart);
    // Inside of a text there are no names: it ends with the quote that it begins with, unless a backslash is before it.
    if (/["']/.test(before.replace(/"(\\.|[^"\\])*"|'(\\.|[^'\\])*'/gs, ""))) return "";
    return (before.match(/[\p{L}_][\p{L}\p{N}_.]*$/u) || [""])[0];
  };
  const close = () => {
    list.hidden = true;
    chosen = -1;
    where.setAttribute("aria-expanded", "false");
    where.removeAttribute("aria-activedescendant");
  };
  const mark = () => {
    [...list.children].forEach((item, place) => item.setAttribute("aria-selected", place === chosen));
    if (chosen >= 0) where.setAttribute("aria-activedescendant", list.children[chosen].id);
  };
  const take = (name) => {
    const start = where.selectionStart - word().length;
    const rest = where.value.slice(where.selectionStart);
    where.value = where.value.slice(0, start) + name + rest;
    where.setSelectionRange(start + name.length, start + name.length);
    close();
    where.focus();
  };
  where.addEventListener("input", () => {
    const part = word().toLowerCase();
    const found = part ? names.filter((name) => name.toLowerCase().startsWith(part) && name.length > part.length) : [];
    list.replaceChildren(...found.slice(0, 8).map((name, place) => {
      const item = document.createElement("li");
      item.id = "name-" + place;
      item.textContent = name;
      item.setAttribute("role", "option");
      item.addEventListener("mousedown", (event) => {
        event.preventDefault();
        take(name);
      });
      return item;
    }));
    chosen = -1;
    list.hidden = found.length === 0;
    where.setAttribute("aria-expanded", String(!list.hidden));
  });
  where.addEventListener("keydown", (event) => {
    if (list.hidden) return;
    const last = list.children.length - 1;
    if (event.key === "ArrowDown") chosen = chosen >= last ? 0 : chosen + 1;
    else if (event.key === "ArrowUp") chosen = chosen <= 0 ? last : chosen - 1;
    else if ((event.key === "Enter" || event.key === "Tab") && chosen >= 0) return event.preventDefault(), take(list.children[chosen].textContent);
    else if (event.key === "Escape") return close();
    else return;
    event.preventDefault();
    mark();
  });
  where.addEventListener("blur", close);
}
