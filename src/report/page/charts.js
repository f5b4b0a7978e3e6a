// Draws every figure.chart with Chart.js, from the table in it and its entry of "drawings" (chart/drawing.hpp), which
// holds all decisions. Draws again when the page changes between light and dark.
"use strict";
(() => {
  const DRAWINGS = JSON.parse(document.getElementById("drawings").textContent);
  const LINE_PIXELS = 24;
  const drawn = [];

  const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const dark = matchMedia("(prefers-color-scheme: dark)"), page = document.documentElement.classList;
  const text = (cell) => cell.textContent;
  const number = (cell) => cell.dataset.v !== undefined ? Number(cell.dataset.v)
    : cell.classList.contains("n") ? Number(cell.textContent) : NaN;

  // Solid, pale, or hatched in one of four directions.
  const filling = (color, kind) => {
    if (kind < 2) return color + (kind === 0 ? "" : "73");
    const tile = Object.assign(document.createElement("canvas"), { width: 6, height: 6 }), pen = tile.getContext("2d");
    pen.fillStyle = color;
    pen.fillRect(0, 0, 6, 2);
    const pattern = pen.createPattern(tile, "repeat");
    pattern.setTransform(new DOMMatrix().rotate(45 * (kind - 2)));
    return pattern;
  };
  const color_of = ({ colors }) => colors[dark.matches && !page.contains("paper") ? 1 : 0];

  const axis = ({ title, low, high, logarithmic, ticks, labels }) => ({
    type: logarithmic ? "logarithmic" : "linear", min: low, max: high, offset: false,
    title: { display: title !== "", text: title, color: ink("--ink") },
    grid: { color: ink("--line"), borderColor: ink("--faint"), offset: false },
    afterBuildTicks: (scale) => { scale.ticks = ticks.map((value) => ({ value })); },
    ticks: { color: ink("--ink"), maxRotation: 0, callback: (value) => labels[ticks.indexOf(value)] },
  });
  const name_axis = (names, rows) => {
    const { min, max, ticks, ...more } = axis(names);
    return {
      ...more, type: "category", offset: true, labels: rows.map((row) => text(row[0])),
      ticks: { ...ticks, autoSkip: false, font: ({ chart }) => ({ size: chart.width < 450 ? 10 : 13 }) },  // on a phone, too
      grid: { ...more.grid, display: false },
    };
  };

  const is_of_bars = (chart) => chart.config.type === "bar";
  // Whiskers on bars and below marks, a band below a line without marks.
  const draw_intervals = (chart) => {
    const horizontal = chart.options.indexAxis === "y", { ctx, chartArea: area } = chart;
    const scale = chart.scales[horizontal ? "x" : "y"];
    const at = (value) => scale.getPixelForValue(Math.max(value, scale.min));
    chart.data.datasets.forEach(({ ends, pointRadius, borderColor }, d) => {
      if (!ends || !chart.isDatasetVisible(d)) return;
      const spans = chart.getDatasetMeta(d).data.map((mark, i) => [horizontal ? mark.y : mark.x, ...ends[i]]).filter((s) => s.every(Number.isFinite));
      ctx.save();
      ctx.beginPath();
      ctx.rect(area.left - 6, area.top, area.width + 12, area.height);
      ctx.clip();
      ctx.beginPath();
      if (pointRadius === 0) {
        spans.forEach(([place, low]) => ctx.lineTo(place, at(low)));
        spans.reverse().forEach(([place, , high]) => ctx.lineTo(place, at(high)));
        ctx.globalAlpha = .2;
        ctx.fillStyle = borderColor;
        ctx.fill();
      } else {
        const line = (a, b, c, e) => { ctx.moveTo(...(horizontal ? [b, a] : [a, b])); ctx.lineTo(...(horizontal ? [e, c] : [c, e])); };
        for (const [place, low, high] of spans) {
          line(place, at(low), place, at(high));
          for (const end of [low, high]) line(place - 4, at(end), place + 4, at(end));
        }
        const rims = is_of_bars(chart) ? [[ink("--card"), 4]] : [];  // visible on bars, too
        for (const [style, width] of [...rims, [is_of_bars(chart) ? ink("--ink") : borderColor, 1.5]]) {
          ctx.strokeStyle = style;
          ctx.lineWidth = width;
          ctx.stroke();
        }
      }
      ctx.restore();
    });
  };
  Chart.register({
    id: "intervals",
    beforeDatasetsDraw(chart) { if (!is_of_bars(chart)) draw_intervals(chart); },
    afterDatasetsDraw(chart) { if (is_of_bars(chart)) draw_intervals(chart); },
  });

  // Makes a series for Chart.js: `data` converts a row to a point.
  const dataset = (series, all_rows, data) => {
    const rows = series.rows.length > 0 ? series.rows.map((r) => all_rows[r]) : all_rows, color = color_of(series);
    return {
      label: series.label, rows, column: series.column, data: rows.map(data),
      ends: series.ends.length > 0 ? rows.map((row) => series.ends.map((end) => number(row[end]))) : undefined,
      borderColor: color, backgroundColor: color, borderWidth: 2, borderDash: series.dash,
      pointStyle: series.mark, pointRotation: series.rotation, pointBorderWidth: series.hollow ? 1.5 : 1,
      pointBackgroundColor: series.hollow ? ink("--card") : color, pointBorderColor: color,
    };
  };
  const points = (series, rows, radius) =>
    ({ ...dataset(series, rows, (row) => ({ x: number(row[0]), y: number(row[series.column]) })), pointRadius: radius });

  const bars = ({ series, many }, rows) => ({
    type: "bar",
    datasets: series.map((one) => ({
      ...dataset(one, rows, (row) => number(row[one.column])),
      backgroundColor: filling(color_of(one), one.filling), borderWidth: one.filling === 0 || many ? 0 : 1.5,
    })),
  });
  // Adjacent bars, or the outlines of several series, which end where the last bin ends.
  const histogram = ({ series, along }, rows) => {
    const edges = [...rows.map((row) => number(row[0])), along.high];
    return series.length === 1 ? {
      type: "bar",
      datasets: series.map((one) => ({
        ...dataset(one, rows, (row, i) => ({ x: (edges[i] + edges[i + 1]) / 2, y: number(row[one.column]) })),
        borderWidth: 0, barPercentage: 1, categoryPercentage: 1,
      })),
    } : {
      type: "line",
      datasets: series.map((one) => ({
        ...points(one, [...rows, rows.at(-1)], 0), stepped: true,
        data: edges.map((x, i) => ({ x, y: number(rows[Math.min(i, rows.length - 1)][one.column]) })),
      })),
    };
  };
  const lines = ({ series, many }, rows) => ({
    type: "line",
    datasets: series.map((one) => ({ ...points(one, rows, many ? 0 : 3.5), spanGaps: true })),  // between validations within an epoch
  });
  const scatter = ({ series, many }, rows) => ({
    type: "scatter",
    datasets: series.map((one) => ({ ...points(one, rows, many ? 2.5 : 4), borderWidth: 1, pointHoverRadius: 6 })),
  });
  // Bars on top of one another: the whisker, the box, and marks of zero length for the median and the ends.
  const boxes = (drawing, rows) => {
    const layer = (from, to, thickness, backgroundColor, minBarLength) =>
      ({ data: rows.map((row) => [number(row[from]), number(row[to])]), rows, grouped: false, barThickness: thickness, backgroundColor, minBarLength });
    return {
      type: "bar",
      datasets: [  // the first is on top
        layer(4, 4, 16, ink("--ink"), 3), layer(3, 5, 16, ink("--box"), 0), layer(2, 6, 2, ink("--faint"), 0),
        layer(1, 1, 7, ink("--faint"), 3), layer(7, 7, 7, ink("--faint"), 3),
      ],
    };
  };
  const KINDS = { bar: bars, histogram, line: lines, scatter, box: boxes };

  // The tooltip of a row: value and interval of a series; the other columns of points and boxes.
  const tooltip = ({ kind, series }, columns) => ({
    filter: (item) => kind !== "box" || item.datasetIndex === 0,
    callbacks: {
      title: ([item]) => item && kind !== "scatter" ? `${columns[0]} ${text(item.dataset.rows[item.dataIndex][0])}` : "",
      label: ({ dataset: { label, rows, column, ends }, dataIndex }) => {
        const row = rows[dataIndex].map(text), [low, high] = ends?.[dataIndex] ?? [];
        if (kind === "box") return row.slice(1).map((cell, c) => `${columns[c + 1]}: ${cell}`);
        if (kind === "scatter") return `${label}: ${row.slice(3).map((cell, c) => `${columns[c + 3]} ${cell}`).join(", ")}`;
        return `${label}: ${row[column]}${Number.isFinite(low) ? ` (${low} to ${high})` : ""}`;
      },
    },
  });

  const draw = (figure, drawing) => {
    const { kind, horizontal, stacked, legend, along, values } = drawing, plot = figure.querySelector(".plot");
    const columns = [...figure.querySelectorAll("thead th")].map(text);
    const rows = [...figure.querySelectorAll("tbody tr")].map((row) => [...row.cells]);
    if (drawing.lines > 0) plot.style.height = `${drawing.lines * LINE_PIXELS + 90}px`;
    const pile = (scale) => ({ ...scale, stacked });
    const named = kind === "bar" || kind === "box" ? name_axis(along, rows) : axis(along);
    const { type, datasets } = KINDS[kind](drawing, rows);
    drawn.push(new Chart(plot.querySelector("canvas"), {
      type, data: { datasets },
      options: {
        animation: false, responsive: true, maintainAspectRatio: false, indexAxis: horizontal ? "y" : "x",
        interaction: kind === "box" ? { mode: "index", axis: "y", intersect: false } : kind === "histogram" ? { mode: "index", intersect: false } : {},
        scales: horizontal ? { x: pile(axis(values)), y: pile(named) } : { x: pile(named), y: pile(axis(values)) },
        plugins: {
          legend: { display: legend, labels: { color: ink("--ink"), usePointStyle: true, boxHeight: 8 } },
          tooltip: tooltip(drawing, columns),
        },
      },
    }));
  };
  const draw_all = () => {
    drawn.splice(0).forEach((chart) => chart.destroy());
    Chart.defaults.font = { ...Chart.defaults.font, size: 13, family: getComputedStyle(document.body).fontFamily };
    document.querySelectorAll("figure.chart").forEach((figure, i) => draw(figure, DRAWINGS[i]));
  };
  draw_all();
  dark.addEventListener("change", draw_all);
  // Prints in light colors.
  addEventListener("beforeprint", () => { page.add("paper"); draw_all(); });
  addEventListener("afterprint", () => { page.remove("paper"); draw_all(); });
})();
