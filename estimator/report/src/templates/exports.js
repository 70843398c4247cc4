// Below every picture and table of a page: that as a file.
const exportable = (() => {
  const find = (selector, within = document) => within.querySelector(selector);
  const save = (name, blob) => {
    const link = Object.assign(document.createElement("a"), { download: name, href: URL.createObjectURL(blob) });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const called = (words) => words.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || "picture";
  const drawing = (svg) => {
    const alone = svg.cloneNode(true), { width, height } = svg.viewBox.baseVal;
    alone.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    alone.setAttribute("width", width);
    alone.setAttribute("height", height);
    const style = document.createElementNS("http://www.w3.org/2000/svg", "style");
    style.textContent = `${find("style").textContent}\nsvg { background: var(--paper); }`;
    alone.prepend(style);
    return { source: new XMLSerializer().serializeToString(alone), width, height };
  };
  const painted = async ({ source, width, height }) => {
    const image = new Image();
    image.src = URL.createObjectURL(new Blob([source], { type: "image/svg+xml" }));
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: 2 * width, height: 2 * height });
    canvas.getContext("2d").drawImage(image, 0, 0, 2 * width, 2 * height);
    return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  };
  const cell = (one) => {
    const parts = [...one.childNodes].map((node) => node.textContent.trim()).filter(Boolean);
    const words = parts.join(" ").replace(/\s+/g, " ");
    return /[",\n]/.test(words) ? `"${words.replaceAll('"', '""')}"` : words;
  };
  const rows = (table) => [...table.rows].map((row) => [...row.cells].map(cell).join(",")).join("\r\n") + "\r\n";
  const buttons = (below, all) => {
    const bar = Object.assign(document.createElement("p"), { className: "export" });
    for (const [name, act] of all) {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: name });
      button.addEventListener("click", act);
      bar.append(button, " ");
    }
    below.after(bar);
  };
  return () => {
    for (const figure of document.querySelectorAll("main figure")) {
      const svg = find("svg", figure), name = called(find("h3", figure)?.textContent ?? "");
      buttons(figure.lastElementChild, [
        ["SVG", () => save(`${name}.svg`, new Blob([drawing(svg).source], { type: "image/svg+xml" }))],
        ["PNG", async () => save(`${name}.png`, await painted(drawing(svg)))],
      ]);
    }
    for (const table of document.querySelectorAll("main table")) {
      const region = table.closest(".scroll") ?? table;
      const name = called(region.getAttribute("aria-label") ?? "table");
      buttons(region, [["CSV", () => save(`${name}.csv`, new Blob([rows(table)], { type: "text/csv" }))]]);
    }
  };
})();
