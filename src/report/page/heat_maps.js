// Draws every figure.heat from its entry of "heat-maps" (HeatMap in C++): a canvas that zooms and moves by mouse, touch
// and keyboard, and names the cell under the cursor. Draws again when the page changes between light and dark.
"use strict";
(() => {
  const MAPS = JSON.parse(document.getElementById("heat-maps").textContent);
  const NAME_PIXELS = 13, LARGEST_CELL = 48, GRID_FROM = 8, STEP = 1.6;
  const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

  const show = (figure, map) => {
    const canvas = figure.querySelector("canvas"), status = figure.querySelector(".cell"), pen = canvas.getContext("2d");
    const height = map.rows.length, width = map.columns.length;
    const values = new Map();  // of cells that are not 0: value and shade
    for (let i = 0; i < map.cells.length; i += 4) values.set(map.cells[i] * width + map.cells[i + 1], [map.cells[i + 2], map.cells[i + 3]]);
    const filled = [...values.keys()];
    let scale = 1, left = 0, top = 0, cursor = null, side = 0, margin = 0, plot = 0;  // left, top: the first visible column and row

    const least = () => plot / Math.max(width, height);
    const move_to = (column, row) => {
      left = clamp(column, 0, Math.max(0, width - plot / scale));
      top = clamp(row, 0, Math.max(0, height - plot / scale));
    };
    const name = (names, i, pixels) => {
      let text = names[i];
      while (text.length > 3 && pen.measureText(text).width > pixels) text = text.slice(0, -2) + "…";
      return text;
    };

    const draw = () => {
      const ratio = devicePixelRatio || 1;
      side = canvas.clientWidth;
      margin = side < 500 ? 64 : 120;
      plot = side - margin;
      scale = clamp(scale, least(), Math.max(least(), LARGEST_CELL));
      move_to(left, top);
      canvas.width = canvas.height = Math.round(side * ratio);
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      pen.fillStyle = ink("--back");
      pen.fillRect(0, 0, side, side);
      pen.save();
      pen.beginPath();
      pen.rect(margin, margin, Math.min(plot, (width - left) * scale), Math.min(plot, (height - top) * scale));
      pen.clip();
      const at = (column, row) => [margin + (column - left) * scale, margin + (row - top) * scale];
      pen.strokeStyle = ink("--line");
      if (scale >= GRID_FROM) {
        pen.beginPath();
        for (let c = Math.floor(left); c <= Math.min(width, left + plot / scale + 1); ++c) { pen.moveTo(at(c, 0)[0], margin); pen.lineTo(at(c, 0)[0], side); }
        for (let r = Math.floor(top); r <= Math.min(height, top + plot / scale + 1); ++r) { pen.moveTo(margin, at(0, r)[1]); pen.lineTo(side, at(0, r)[1]); }
        pen.stroke();
      }
      const edge = Math.max(scale, 2);  // so that a single cell is visible
      for (const [key, [value, shade]] of values) {
        const row = Math.floor(key / width), column = key % width, [x, y] = at(column, row);
        if (x + edge < margin || y + edge < margin || x > side || y > side) continue;
        pen.fillStyle = `rgb(${ink(shade < 0 ? "--negative" : "--positive")} / ${Math.abs(shade)})`;
        pen.fillRect(x, y, edge, edge);
        const text = String(value);
        if (scale < 22 || text.length > 5) continue;
        pen.fillStyle = ink("--ink");
        pen.font = `${Math.min(13, scale / 2)}px sans-serif`;
        pen.textAlign = "center";
        pen.textBaseline = "middle";
        pen.fillText(text, x + scale / 2, y + scale / 2);
      }
      if (cursor !== null) {
        const [x, y] = at(cursor % width, Math.floor(cursor / width));
        pen.strokeStyle = ink("--ink");
        pen.lineWidth = 2;
        pen.strokeRect(x - 1, y - 1, scale + 2, scale + 2);
      }
      pen.restore();
      pen.strokeStyle = ink("--faint");
      pen.lineWidth = 1;
      pen.strokeRect(margin, margin, Math.min(plot, (width - left) * scale), Math.min(plot, (height - top) * scale));
      // Names of rows and columns, as many as there is room for.
      pen.fillStyle = ink("--ink");
      pen.font = "11px sans-serif";
      pen.textBaseline = "middle";
      const every = Math.max(1, Math.ceil(NAME_PIXELS / scale));
      pen.textAlign = "right";
      for (let r = Math.ceil(top / every) * every; r < height && (r + .5 - top) * scale < plot; r += every)
        pen.fillText(name(map.rows, r, margin - 22), margin - 4, margin + (r + .5 - top) * scale);
      pen.textAlign = "left";
      for (let c = Math.ceil(left / every) * every; c < width && (c + .5 - left) * scale < plot; c += every) {
        pen.save();
        pen.translate(margin + (c + .5 - left) * scale, margin - 4);
        pen.rotate(-Math.PI / 2);
        pen.fillText(name(map.columns, c, margin - 22), 0, 0);
        pen.restore();
      }
      pen.font = "bold 11px sans-serif";
      pen.fillText(map.column + " →", margin, 8);
      pen.save();
      pen.translate(8, side);
      pen.rotate(-Math.PI / 2);
      pen.fillText("← " + map.row, 0, 0);
      pen.restore();
    };

    const say = (key) => {
      cursor = key;
      const value = values.has(key) ? values.get(key)[0] : 0;
      status.textContent = `${map.row}: ${map.rows[Math.floor(key / width)]}; ${map.column}: ${map.columns[key % width]}; ${value}${map.unit ? " " + map.unit : ""}`;
    };
    const zoom = (factor, x = margin + plot / 2, y = margin + plot / 2) => {
      const column = left + (x - margin) / scale, row = top + (y - margin) / scale;
      scale = clamp(scale * factor, least(), Math.max(least(), LARGEST_CELL));
      move_to(column - (x - margin) / scale, row - (y - margin) / scale);
      draw();
    };
    const show_all = () => { scale = left = top = 0; draw(); };
    // Zooms around the cursor if there is one.
    const zoom_here = (factor) => cursor === null ? zoom(factor)
      : zoom(factor, margin + (cursor % width + .5 - left) * scale, margin + (Math.floor(cursor / width) + .5 - top) * scale);
    const go = (key) => {
      say(key);
      const column = key % width, row = Math.floor(key / width), seen = plot / scale;
      move_to(clamp(left, column + 1 - seen, column), clamp(top, row + 1 - seen, row));
      draw();
    };
    const cell_at = (event) => {
      const box = canvas.getBoundingClientRect(), column = Math.floor(left + (event.clientX - box.left - margin) / scale);
      const row = Math.floor(top + (event.clientY - box.top - margin) / scale);
      const inside = event.clientX - box.left >= margin && event.clientY - box.top >= margin && column < width && row < height;
      return inside ? row * width + column : null;
    };

    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      const key = cursor ?? 0, column = key % width, row = Math.floor(key / width);
      const next = {
        ArrowLeft: () => go(cursor === null ? 0 : row * width + Math.max(0, column - 1)),
        ArrowRight: () => go(cursor === null ? 0 : row * width + Math.min(width - 1, column + 1)),
        ArrowUp: () => go(cursor === null ? 0 : Math.max(0, row - 1) * width + column),
        ArrowDown: () => go(cursor === null ? 0 : Math.min(height - 1, row + 1) * width + column),
        Home: () => go(row * width), End: () => go(row * width + width - 1),
        n: () => go(filled.find((each) => each > (cursor ?? -1)) ?? filled[0] ?? 0),
        "+": () => zoom_here(STEP), "=": () => zoom_here(STEP), "-": () => zoom_here(1 / STEP), 0: show_all,
      }[event.key.length === 1 ? event.key.toLowerCase() : event.key];
      if (!next) return;
      event.preventDefault();
      next();
    });
    let held = null;  // where a pointer was pressed, and the view then
    canvas.addEventListener("pointerdown", (event) => { held = [event.clientX, event.clientY, left, top]; canvas.setPointerCapture(event.pointerId); });
    canvas.addEventListener("pointerup", () => { held = null; });
    canvas.addEventListener("pointercancel", () => { held = null; });
    canvas.addEventListener("pointermove", (event) => {
      if (held) move_to(held[2] - (event.clientX - held[0]) / scale, held[3] - (event.clientY - held[1]) / scale);
      const key = cell_at(event);
      if (key !== null && key !== cursor) say(key);
      else if (!held) return;
      draw();
    });
    canvas.addEventListener("wheel", (event) => {  // without Ctrl, the wheel scrolls the page
      if (!event.ctrlKey) return;
      event.preventDefault();
      const box = canvas.getBoundingClientRect();
      zoom(event.deltaY < 0 ? STEP : 1 / STEP, event.clientX - box.left, event.clientY - box.top);
    }, { passive: false });
    const BUTTONS = { in: () => zoom_here(STEP), out: () => zoom_here(1 / STEP), all: show_all };
    figure.querySelectorAll("button").forEach((button) => button.addEventListener("click", BUTTONS[button.dataset.zoom]));
    show_all();
    new ResizeObserver(() => { if (canvas.clientWidth !== side) draw(); }).observe(canvas);
    return draw;
  };

  const draws = [...document.querySelectorAll("figure.heat")].map((figure, i) => show(figure, MAPS[i]));
  const draw_all = () => draws.forEach((draw) => draw());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw_all);
  addEventListener("beforeprint", draw_all);
  addEventListener("afterprint", draw_all);
})();
