"use strict";
// Prices the study of this page anew as its values are turned. The models are a WebAssembly module in a worker; all there is to show comes from them, as a page.
(() => {
  const find = (selector, within = document) => within.querySelector(selector);
  const panel = find(".turn"), form = find(".turn form"), status = find(".turn .status"), told = find(".turn .told");
  const text = find(".turn textarea");
  const counts = find("#counts").textContent;
  const first = JSON.parse(counts).studies[0].text;

  // In the worker: a text goes in and a text comes out.
  const work = () => {
    let models;
    const call = (name, given) => {
      const bytes = new TextEncoder().encode(given);
      const at = models.input(bytes.length);
      new Uint8Array(models.memory.buffer, at, bytes.length).set(bytes);
      const out = models[name]();
      return new TextDecoder().decode(new Uint8Array(models.memory.buffer, out, models.length()));
    };
    onmessage = async ({ data }) => {
      try {
        if (data.module) {
          const bytes = Uint8Array.from(atob(data.module), (one) => one.charCodeAt(0));
          const whole = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
          const made = await WebAssembly.instantiate(await new Response(whole).arrayBuffer(), {});
          models = made.instance.exports;
          postMessage({ fault: call("open", data.counts) });
        } else {
          const since = performance.now();
          const reply = JSON.parse(call("price", data.study));
          postMessage({ number: data.number, reply, ms: performance.now() - since });
        }
      } catch (error) {
        postMessage({ number: data.number, fault: String(error) });
      }
    };
  };

  const waiting = new Map();
  let number = 0, opened, worker;
  const reopen = (counts) => {
    worker.terminate();
    for (const [, failed] of waiting.values()) failed(new Error("more was counted"));
    waiting.clear();
    return begin(counts);
  };
  const begin = (counts) => {
    const source = URL.createObjectURL(new Blob([`(${work})()`], { type: "text/javascript" }));
    worker = new Worker(source);
    opened = new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => {
        if (data.number === undefined) {
          data.fault ? reject(new Error(data.fault)) : resolve();
          return;
        }
        const [done, failed] = waiting.get(data.number);
        waiting.delete(data.number);
        data.fault ? failed(new Error(data.fault)) : done(data);
      };
      worker.onerror = (event) => reject(new Error(event.message));
    });
    worker.postMessage({ module: find("#module").textContent, counts });
    return opened;
  };

  // What the study of a text comes to.
  const price = async (study) => {
    await (opened ?? begin(counts));
    return new Promise((...ends) => {
      number += 1;
      waiting.set(number, ends);
      worker.postMessage({ number, study });
    });
  };

  // One is priced at a time; of those that come meanwhile only the last.
  let busy = false, next;
  const turn = async (study) => {
    next = study;
    if (busy) return;
    busy = true;
    while (next !== undefined) {
      const now = next;
      next = undefined;
      try {
        show(await price(now), now);
      } catch (error) {
        say(`The models cannot work here: ${error.message}`);
      }
    }
    busy = false;
  };

  const button = (name) => find(`.turn [data-do="${name}"]`);
  const say = (words, more = "") => {
    status.textContent = words;
    told.textContent = more;
    told.hidden = !more;
  };

  const show = ({ reply, ms }, study) => {
    if (reply.controls.length) offer(reply.controls);
    const took = ms === undefined ? "" : ` Priced in ${ms.toFixed(0)} ms.`;
    find("main").classList.toggle("stale", reply.page === undefined);
    button("run").hidden = !(reply.missing && panel.dataset.run);
    if (reply.page !== undefined) {
      if (study !== shown) put(reply.page);
      shown = study;
      say((study === first ? "The study as it was run." : "Turned: as a run of this study would report it.") + took, reply.warnings);
    } else if (reply.missing) {
      say(
        `${reply.missing.length} run${reply.missing.length > 1 ? "s" : ""} of this study would count otherwise: the figures below are of the study before. ${panel.dataset.run ? '"Run it here" counts them.' : '"Copy as command" has what runs it.'}`,
        reply.missing.join("\n"),
      );
    } else {
      say("This study cannot be priced; the figures below are of the one before.", reply.faults);
    }
  };

  // The page's own parts in the place of those that are there; what is open stays open.
  let shown = first;
  const put = (page) => {
    const made = new DOMParser().parseFromString(page, "text/html");
    const open = (within) => [...within.querySelectorAll("details")];
    const before = open(find("main"));
    open(made.querySelector("main")).forEach((details, place) => {
      if (before[place]) details.open = before[place].open;
    });
    for (const part of ["main", "footer", ".lead", "h1"]) {
      const fresh = made.querySelector(part);
      if (fresh) find(part).replaceWith(fresh);
    }
    document.title = made.title;
    exportable();
  };

  // Controls.
  const quoted = (name) => JSON.stringify(name);
  const listed = (names) => (names.length === 1 ? quoted(names[0]) : `[${names.map(quoted).join(", ")}]`);
  const write = (control, value) => {
    if (value === control.text) return;
    const old = text.value;
    let { start, end } = control.place, around = control.around;
    const goes = control.optional && value === "";
    if (goes) {
      // Without a value the whole line goes.
      start = old.lastIndexOf("\n", start - 1) + 1;
      end = old.indexOf("\n", end) + 1 || old.length;
    }
    const put = goes ? "" : around[0] + value + around[1];
    text.value = old.slice(0, start) + put + old.slice(end);
    // Places hold until the models have read the text.
    for (const { place } of controls) {
      if (place !== control.place && place.start >= end) {
        place.start += put.length - (end - start);
        place.end += put.length - (end - start);
      }
    }
    start += goes ? 0 : around[0].length;
    around = goes ? [`${control.name} = `, "\n"] : ["", ""];
    Object.assign(control, { text: value, place: { start, end: start + value.length }, around });
    turn(text.value);
  };

  let controls = [], inputs = [];
  const shape = (all) => JSON.stringify(all.map(({ group, name, names }) => [group, name, names]));
  const offer = (all) => {
    const same = shape(all) === shape(controls);
    controls = all;
    if (!same) {
      form.replaceChildren();
      inputs = [];
      let group, fieldset;
      all.forEach((control, place) => {
        if (control.group !== group) {
          group = control.group;
          fieldset = form.appendChild(document.createElement("fieldset"));
          fieldset.appendChild(document.createElement("legend")).textContent = group;
        }
        inputs.push(input(control, place, fieldset));
      });
    }
    all.forEach((control, place) => inputs[place](control));
  };

  // Puts a control into the form; gives what brings it up to date.
  const input = ({ name, names, slider, meaning }, place, within) => {
    const id = `turn-${place}`;
    const add = (parent, kind, settings) => parent.appendChild(Object.assign(document.createElement(kind), settings));
    if (names.length) {
      add(within, "span", { className: "label", textContent: name, id, title: meaning });
      const group = add(within, "div", { className: "names" });
      group.setAttribute("role", "group");
      group.setAttribute("aria-labelledby", id);
      const boxes = names.map((one) => {
        const label = add(group, "label", {});
        const box = add(label, "input", { type: "checkbox", value: one });
        label.append(` ${one}`);
        box.addEventListener("change", () => {
          // What a study must have keeps its last name.
          if (!controls[place].optional && !boxes.some((box) => box.checked)) box.checked = true;
          const chosen = boxes.filter((box) => box.checked).map((box) => box.value);
          write(controls[place], chosen.length ? listed(chosen) : "");
        });
        return box;
      });
      return ({ chosen }) => boxes.forEach((box) => (box.checked = chosen.includes(box.value)));
    }
    add(within, "label", { textContent: name, htmlFor: id, title: meaning });
    const field = slider ? add(within, "div", { className: "slides" }) : within;
    const line = add(field, "input", { type: "text", id, title: meaning, autocomplete: "off", spellcheck: false });
    line.addEventListener("input", () => write(controls[place], line.value.trim()));
    if (!slider) return ({ text }) => document.activeElement !== line && (line.value = text);
    const { least, most, step, unit } = slider;
    const range = add(field, "input", { type: "range", min: least, max: most, step, value: (least + most) / 2 });
    range.setAttribute("aria-label", `${name} in ${unit}`);
    range.addEventListener("input", () => {
      const value = quoted(`${Number(range.value)} ${unit}`);
      line.value = value;
      write(controls[place], value);
    });
    return ({ text }) => {
      if (document.activeElement !== line) line.value = text;
      const value = parseFloat(text.replace('"', ""));
      if (document.activeElement !== range && !Number.isNaN(value)) range.value = value;
    };
  };

  // What leaves the page.
  const command = (study) => {
    let mark = "STUDY";
    while (study.includes(mark)) mark += "_";
    return `warpwatt run /dev/stdin --out results <<'${mark}'\n${study.replace(/\n?$/, "\n")}${mark}\n`;
  };
  const packed = async (study) => {
    const stream = new Blob([study]).stream().pipeThrough(new CompressionStream("gzip"));
    const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
    return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  };
  const unpacked = async (packed) => {
    const bytes = Uint8Array.from(atob(packed.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  };
  const copy = async (what, name) => {
    try {
      await navigator.clipboard.writeText(what);
      say(`Copied ${name}.`);
    } catch {
      say(`Copy ${name} from here:`, what);
    }
  };
  // Where the page is served, what was not counted is run there; what it says on its way comes line by line.
  let stop;
  const run = async (study) => {
    stop = new AbortController();
    button("run").hidden = true;
    button("stop").hidden = false;
    try {
      say("Running …");
      const reply = await fetch(panel.dataset.run, { method: "POST", body: study, signal: stop.signal });
      if (!reply.ok) throw new Error(await reply.text());
      const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        const lines = (rest + part.value).split("\n");
        rest = lines.pop();
        for (const line of lines) await heard(JSON.parse(line), study);
      }
    } catch (error) {
      say(stop.signal.aborted ? "Stopped." : `The run failed: ${error.message}`);
      button("run").hidden = false;
    }
    button("stop").hidden = true;
  };
  const heard = async ({ points, of, faults, counts }, study) => {
    if (faults) say("The study cannot be run.", faults);
    if (of) say(`Running: ${points} of ${of} points.`);
    if (counts) {
      await reopen(JSON.stringify(counts));
      await turn(study);
    }
  };
  const does = {
    run: () => run(text.value),
    stop: () => stop.abort(),
    reset: () => turn((text.value = first)),
    study: () => copy(text.value, "the study"),
    command: () => copy(command(text.value), "the command"),
    link: async () => copy(`${location.href.split("#")[0]}#study=${await packed(text.value)}`, "the link"),
  };
  panel.addEventListener("click", ({ target }) => does[target.dataset.do]?.());
  form.addEventListener("submit", (event) => event.preventDefault());
  text.addEventListener("input", () => turn(text.value));

  // The models are read when somebody looks at them first, or at once where the link has a study.
  panel.hidden = false;
  exportable();
  globalThis.warpwatt = { price };
  const asked = location.hash.match(/^#study=([\w-]+)$/);
  const start = async () => {
    text.value = asked ? await unpacked(asked[1]).catch(() => first) : first;
    say("Reading the models …");
    turn(text.value);
  };
  start();
})();
