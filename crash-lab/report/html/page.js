// The report's page: filters, and what was seen of the chosen case. All text goes in as text nodes, never as markup.
(() => {
  const { cases, verdicts, timelines } = JSON.parse(document.getElementById("data").textContent);
  const panel = document.getElementById("case");
  const filters = document.getElementById("filters");

  /** An element with attributes and children; strings become text nodes. */
  function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  function drawing(name, attributes = {}, text) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
    if (text !== undefined) made.append(text);
    return made;
  }

  const facets = [...filters.querySelectorAll("select")].map(({ name }) => name);

  function applyFilters() {
    const wanted = new FormData(filters);
    const text = wanted.get("text").toLowerCase();
    let shown = 0;
    for (const row of document.querySelectorAll("tbody tr:has([data-case])")) {
      let any = false;
      for (const button of row.querySelectorAll("[data-case]")) {
        const each = cases[button.dataset.case];
        const fits =
          facets.every((facet) => wanted.get(facet) === "" || wanted.get(facet) === each[facet]) &&
          decodeURIComponent(each.window).toLowerCase().includes(text);
        button.hidden = !fits;
        if (fits) shown += 1;
        any ||= fits;
      }
      row.hidden = !any;
    }
    filters.querySelector("output").textContent = `${shown} of ${cases.length} cases`;
  }

  /** Lanes from the caller inwards and out again: callers, the processes' connections, Temporal, database, outside. */
  function laneOrder(system) {
    if (system === "caller") return 0;
    if (system.startsWith("tap:")) return 1;
    if (system === "history") return 2;
    if (system === "ledger") return 3;
    return system === "lab" ? 5 : 4;
  }

  function laneName(system) {
    if (system === "history") return "Temporal's history";
    if (system === "lab") return "the lab";
    return system.replace(/^tap:/, "");
  }

  const seenOf = (line) => ({
    system: timelines.texts[line[0]],
    ms: line[1],
    kind: timelines.texts[line[2]],
    key: timelines.texts[line[3]],
    status: timelines.texts[line[4]],
  });

  /** An effect is what an outside system says that it committed. */
  const isEffect = ({ system, kind }) => laneOrder(system) === 4 && kind === "committed";

  function picture(seen, faultMs, durationMs) {
    const lanes = [...new Set(seen.map(({ system }) => system))]
      .filter((system) => system !== "lab")
      .sort((a, b) => laneOrder(a) - laneOrder(b) || (a < b ? -1 : 1));
    const left = 150;
    const width = 760;
    const laneHeight = 24;
    const height = 40 + lanes.length * laneHeight;
    const x = (ms) => left + (ms / Math.max(1, durationMs)) * (width - left - 20);
    const svg = drawing("svg", {
      class: "timeline",
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": "Timeline; the table below says the same",
    });
    for (const [at, system] of lanes.entries()) {
      const y = 30 + at * laneHeight;
      svg.append(drawing("text", { x: 8, y: y + 4 }, laneName(system)));
      svg.append(drawing("line", { x1: left, x2: width - 20, y1: y, y2: y }));
    }
    const axis = drawing("g", { class: "axis" });
    for (let part = 0; part <= 4; part += 1) {
      const ms = (durationMs * part) / 4;
      axis.append(
        drawing(
          "text",
          { x: x(ms), y: height - 6, "text-anchor": ["start", "middle", "middle", "middle", "end"][part] },
          `${Math.round(ms)} ms`,
        ),
      );
    }
    svg.append(axis);
    if (faultMs !== null) {
      svg.append(
        drawing("line", { class: "fault", x1: x(faultMs), x2: x(faultMs), y1: 14, y2: height - 20 }),
      );
      svg.append(drawing("text", { class: "fault-word", x: x(faultMs) + 4, y: 12 }, "fault"));
    }
    for (const each of seen) {
      const lane = lanes.indexOf(each.system);
      if (lane < 0) continue;
      const dot = drawing("circle", {
        cx: x(each.ms),
        cy: 30 + lane * laneHeight,
        r: isEffect(each) ? 6 : 4,
        class: isEffect(each) ? "effect" : "seen",
      });
      dot.append(drawing("title", {}, `${each.ms} ms  ${each.kind}  ${each.key}  ${each.status}`));
      svg.append(dot);
    }
    return svg;
  }

  function list(seen) {
    const table = element("table", { class: "seen" });
    const head = element("tr");
    for (const name of ["ms", "who saw it", "what"]) head.append(element("th", { scope: "col" }, name));
    table.append(element("thead", {}, head));
    const body = element("tbody");
    for (const each of seen) {
      const kind = each.system === "lab" ? "fault-row" : isEffect(each) ? "effect-row" : "plain-row";
      body.append(
        element(
          "tr",
          { class: kind },
          element("td", {}, String(each.ms)),
          element("td", {}, laneName(each.system)),
          element("td", { class: "what" }, [each.kind, each.key, each.status].filter(Boolean).join("  ")),
        ),
      );
    }
    table.append(body);
    return table;
  }

  function timeline(title, found) {
    if (!found) return [];
    const seen = found.marks.map(seenOf);
    const lines = element(
      "details",
      {},
      element("summary", {}, `${seen.length} lines, in order of time`),
      list(seen),
    );
    return [element("h3", {}, title), picture(seen, found.faultMs, found.durationMs), lines];
  }

  /** A window that was tried several times has as many timelines, in the order of its cases. */
  function timelineOf(index) {
    const { window, verb } = cases[index];
    const before = cases
      .slice(0, index)
      .filter((each) => each.window === window && each.verb === verb).length;
    return timelines.cases[`${window} ${verb}`]?.[before];
  }

  function show(index) {
    const each = cases[index];
    if (!each) return;
    for (const button of document.querySelectorAll("[data-case]"))
      button.setAttribute("aria-pressed", String(button.dataset.case === String(index)));
    const facts = element("dl");
    const fact = (name, value) => facts.append(element("dt", {}, name), element("dd", {}, value));
    fact("what was found", each.detail);
    const { passes, when, whatToDo } = verdicts[each.verdict];
    fact("that means", passes ? when : `${when} ${whatToDo}`);
    if (each.victim) {
      const { pid, signal, identity } = each.victim;
      fact("victim", `process ${pid}, ${signal ?? "no signal"}, ${identity ?? "no identity"}`);
    }
    if (each.recoverMs !== null) fact("time to recover", `${Math.round(each.recoverMs)} ms`);
    fact("to repeat", element("code", {}, each.repeat));
    const own = timelineOf(index);
    panel.replaceChildren(
      element("h2", {}, element("code", {}, decodeURIComponent(each.window))),
      element("p", { class: "word" }, `${each.verb}: ${each.verdict}`),
      facts,
      ...(own
        ? timeline("What was seen", own)
        : [element("p", { class: "hint" }, "No evidence was given for this case, so there is no timeline.")]),
      ...timeline("The same story undisturbed", timelines.golden[each.story]),
    );
    panel.scrollTop = 0;
  }

  /** The address names the chosen case, so that a link can be sent. */
  const fromAddress = () => show(Number(/^#case-(\d+)$/.exec(location.hash)?.[1] ?? -1));

  filters.addEventListener("input", applyFilters);
  filters.addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-case]");
    if (button) location.hash = `case-${button.dataset.case}`;
  });
  window.addEventListener("hashchange", fromAddress);
  applyFilters();
  fromAddress();
})();
