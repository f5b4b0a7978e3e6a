// Draws every figure.chart from the table within it, by Chart.js; again when light turns to dark.
"use strict";
(() => {
  // What looks.hpp says: the palette, and of every series the number of its look, and whether it stands apart.
  const LOOKS = JSON.parse(document.getElementById("looks").textContent);
  const MARKS = [["circle", 0], ["rect", 0], ["triangle", 0], ["rectRot", 0], ["triangle", 180]];
  const DASHES = [[], [9, 4], [9, 3, 2, 3], [2, 3], [16, 3]], APART = [4, 4];
  const MANY_ROWS = 14, MANY_GROUPS = 24, MANY_POINTS = 40, ROW_PIXELS = 24;
  const drawn = [];

  const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const dark = matchMedia("(prefers-color-scheme: dark)"), page = document.documentElement.classList;
  const colours = () => dark.matches && !page.contains("paper") ? LOOKS.dark : LOOKS.light;
  // With each turn of the palette another mark and dash, so that no two numbers have all in common.
  const kind_of = (number, kinds) => kinds[(number + Math.floor(number / LOOKS.light.length)) % kinds.length];
  // Bars differ in colour, and with each turn of the palette in their filling: solid, none, hatched.
  const filling = (colour, turn) => {
    if (turn % 3 < 2) return [colour, ink("--card")][turn % 3];
    const tile = Object.assign(document.createElement("canvas"), { width: 6, height: 6 }), pen = tile.getContext("2d");
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 6, 2);
    return pen.createPattern(tile, "repeat");
  };
  const look_of = (label) => {
    const { number, apart } = LOOKS.series[label], colour = colours()[number % LOOKS.light.length];
    const [pointStyle, rotation] = kind_of(number, MARKS);
    return {
      colour, dash: apart ? APART : kind_of(number, DASHES), fill: filling(colour, Math.floor(number / LOOKS.light.length)),
      mark: { pointStyle, pointRotation: rotation, pointBackgroundColor: apart ? ink("--card") : colour, pointBorderColor: colour, pointBorderWidth: apart ? 1.5 : 1 },
    };
  };
  const text = (cell) => cell.textContent;
  const number = (cell) => cell.dataset.v !== undefined ? Number(cell.dataset.v)
    : cell.classList.contains("n") ? Number(cell.textContent) : NaN;

  const read = (figure) => ({
    columns: [...figure.querySelectorAll("thead th")].map(text),
    rows: [...figure.querySelectorAll("tbody tr")].map((row) => [...row.cells]),
    intervals: (figure.dataset.intervals ?? "").split(" ").filter(Boolean).map((ends) => ends.split(":").map(Number)),
  });
  // Of a bar or line chart: its series with their intervals, a [low, high] per row, and what the axis of values must show of them.
  const series_of = ({ columns, rows, intervals }) => columns.map((label, column) => {
    const interval = intervals.find(([of]) => of === column);
    const ends = interval && rows.map((row) => [number(row[interval[1]]), number(row[interval[2]])]);
    return { label, column, ends };
  }).filter(({ column }) => column > 0 && !intervals.some(([, low, high]) => column === low || column === high));
  const least = (values) => values.reduce((a, b) => Math.min(a, b), Infinity);
  const largest = (values) => values.reduce((a, b) => Math.max(a, b), -Infinity);
  const reach = (figure, series) => {
    const shown = (end) => Number.isFinite(end) && (end > 0 || !("logarithmic" in figure.dataset));
    const ends = series.flatMap((s) => s.ends ?? []).flat().filter(shown);
    return ends.length ? { suggestedMin: least(ends), suggestedMax: largest(ends) } : {};
  };
  // Room for the marks, but none beyond what can be.
  const ceiling = (figure, heights) => {
    const most = Number(figure.dataset.most ?? Infinity), top = largest(heights);
    return top + .1 * (top - least(heights)) > most ? { max: most } : {};
  };
  const told_with_ends = (item) => {
    const { label, ends } = item.dataset, [low, high] = ends?.[item.dataIndex] ?? [];
    return `${label}: ${item.formattedValue}${Number.isFinite(low) ? ` (${low} to ${high})` : ""}`;
  };

  const is_of_bars = (chart) => chart.config.type === "bar";
  // Whiskers on bars and below marks, a band below a line without marks.
  const draw_intervals = (chart) => {
    const lying = chart.options.indexAxis === "y", { ctx, chartArea: area } = chart;
    const scale = chart.scales[lying ? "x" : "y"];
    const at = (value) => scale.getPixelForValue(scale.type === "logarithmic" ? Math.max(value, scale.min) : value);
    chart.data.datasets.forEach(({ ends, pointRadius, borderColor }, d) => {
      if (!ends || !chart.isDatasetVisible(d)) return;
      const spans = chart.getDatasetMeta(d).data.map((mark, i) => [lying ? mark.y : mark.x, ...ends[i]]).filter((s) => s.every(Number.isFinite));
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
        const line = (a, b, c, e) => { ctx.moveTo(...(lying ? [b, a] : [a, b])); ctx.lineTo(...(lying ? [e, c] : [c, e])); };
        for (const [place, low, high] of spans) {
          line(place, at(low), place, at(high));
          for (const end of [low, high]) line(place - 4, at(end), place + 4, at(end));
        }
        const rims = is_of_bars(chart) ? [[ink("--card"), 4]] : [];  // seen on bars, too
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

  const axis = (title, more = {}) => ({
    title: { display: title !== "", text: title, color: ink("--ink") },
    grid: { color: ink("--line"), borderColor: ink("--faint") },
    ticks: { color: ink("--ink") },
    ...more,
  });
  // What long names are called where there is little room; the table has them whole.
  const called = (names, label) => (names ? JSON.parse(names)[label] : undefined) ?? label;
  const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 4 });
  // Of a logarithmic axis that spans decades only powers of ten are named, or labels would overlap.
  const log_label = function (value) {
    const digit = value / 10 ** Math.floor(Math.log10(value) + 1e-9);
    const named = this.max / this.min > 30 ? [1] : [1, 2, 5];
    return named.some((n) => Math.abs(digit - n) < 1e-6) ? compact.format(value) : "";
  };
  const values = (figure, title, more = {}) => "logarithmic" in figure.dataset
    ? axis(title, { type: "logarithmic", ...more, ticks: { color: ink("--ink"), callback: log_label } })
    : axis(title, { beginAtZero: true, ...more, ticks: { color: ink("--ink"), callback: (value) => compact.format(value) } });
  const legend = (display) => ({ display, labels: { color: ink("--ink"), usePointStyle: true, boxHeight: 8,
    generateLabels: (chart) => Chart.defaults.plugins.legend.labels.generateLabels(chart).map((item) => ({ ...item, text: called(chart.canvas.closest("figure").dataset.series, item.text) })) } });

  // Bars that touch, or of several series their outlines. The axis names some of the bins.
  const histogram = (figure, { columns, rows }) => {
    const several = columns.length > 2;
    const begins = rows.map((row) => number(row[0]));
    return {
      type: several ? "line" : "bar",
      data: {
        labels: begins,
        datasets: columns.slice(1).map((label, s) => {
          const { colour, dash } = look_of(label);
          return {
            label, data: rows.map((row) => number(row[s + 1])), backgroundColor: colour, borderColor: colour,
            ...(several ? { stepped: "middle", pointRadius: 0, borderWidth: 2, borderDash: dash } : { barPercentage: 1, categoryPercentage: 1 }),
          };
        }),
      },
      options: {
        interaction: { mode: "index", intersect: false },
        scales: { x: axis(figure.dataset.x, { ticks: { color: ink("--ink"), maxTicksLimit: 9, maxRotation: 0, callback: (at) => compact.format(begins[at]) } }), y: values(figure, figure.dataset.y) },
        plugins: { legend: legend(several), tooltip: { callbacks: { title: (items) => `${columns[0]} ${text(rows[items[0].dataIndex][0])}` } } },
      },
    };
  };

  const bars = (figure, read) => {
    const { rows } = read, series = series_of(read);
    const lying = rows.length > MANY_ROWS;
    if (lying) figure.querySelector(".plot").style.height = `${rows.length * ROW_PIXELS * Math.max(1, series.length * .6) + 90}px`;
    const labels = rows.map((row) => text(row[0]));
    const names = axis(figure.dataset.x, { ticks: { color: ink("--ink"), maxRotation: 60, autoSkip: false,
      callback(at) { return called(figure.dataset.rows, this.getLabelForValue(at)); } } });
    const measured = values(figure, figure.dataset.y, reach(figure, series));
    return {
      type: "bar",
      data: {
        labels,
        datasets: series.map(({ label, column, ends }) => {
          const { colour, fill } = look_of(label);
          return { label, ends, data: rows.map((row) => number(row[column])), backgroundColor: fill, borderColor: colour, borderWidth: fill === colour ? 0 : 1.5 };
        }),
      },
      options: { indexAxis: lying ? "y" : "x", scales: lying ? { x: measured, y: names } : { x: names, y: measured },
        plugins: { legend: legend(series.length > 1), tooltip: { callbacks: { label: told_with_ends } } } },
    };
  };

  // Along which a doubling is a step, named where one is; those for which there is no room are left out evenly.
  const axis_of_workers = (figure, rows) => {
    const doublings = (figure.dataset.doublings ?? "").split(" ").filter(Boolean).map(Number);
    if (doublings.length === 0) return axis(figure.dataset.x, { type: "linear", ticks: { color: ink("--ink"), precision: 0 } });
    return axis(figure.dataset.x, {
      type: "logarithmic", min: doublings[0], max: largest(rows.map((row) => number(row[0]))),
      afterBuildTicks: (scale) => { scale.ticks = doublings.map((value) => ({ value })); },
      ticks: { color: ink("--ink"), maxRotation: 0, callback: String },
    });
  };

  const lines = (figure, read) => {
    const { rows } = read, series = series_of(read);
    const heights = series.flatMap(({ column }) => rows.map((row) => number(row[column]))).filter(Number.isFinite);
    const flat = least(heights) === largest(heights);  // or the axis would be from one below to one above
    return {
      type: "line",
      data: {
        datasets: series.map(({ label, column, ends }) => {
          const { colour, dash, mark } = look_of(label);
          return {
            label, ends, data: rows.map((row) => ({ x: number(row[0]), y: number(row[column]) })),
            borderColor: colour, backgroundColor: colour, borderWidth: 2, borderDash: dash,
            ...mark, pointRadius: rows.length > MANY_POINTS ? 0 : 3.5,
            spanGaps: true,  // rows of validations within an epoch say nothing of training
          };
        }),
      },
      options: {
        scales: {
          x: axis_of_workers(figure, rows),
          y: values(figure, figure.dataset.y, { beginAtZero: flat || "fromZero" in figure.dataset, ...reach(figure, series), ...ceiling(figure, heights) }),
        },
        plugins: { legend: legend(series.length > 1 && series.length <= MANY_GROUPS), tooltip: { callbacks: { label: told_with_ends } } },
      },
    };
  };

  const scatter = (figure, read) => {
    const { columns, rows, intervals } = read, [, low, high] = intervals[0] ?? [];
    figure.querySelector(".plot").classList.add("map");
    const groups = new Map();
    for (const row of rows) {
      const group = text(row[2]);
      if (!groups.has(group)) groups.set(group, []);
      const told = row.map((cell, c) => c < 3 || c === low || c === high ? "" : `${columns[c]} ${text(cell)}`).filter(Boolean);
      groups.get(group).push({ x: number(row[0]), y: number(row[1]), told: told.join(", "), ends: low && [number(row[low]), number(row[high])] });
    }
    const heights = rows.flatMap((row) => [number(row[1]), ...(low ? [number(row[low]), number(row[high])] : [])]).filter(Number.isFinite);
    const ordered = [...groups].sort((a, b) => a[0].localeCompare(b[0], "en", { numeric: true }));
    return {
      type: "scatter",
      data: {
        datasets: ordered.map(([label, data]) => {
          const { colour, mark } = look_of(label);
          return {
            label, data, ends: low && data.map(({ ends }) => ends), backgroundColor: colour, borderColor: colour, borderWidth: 1,
            ...mark, pointRadius: rows.length > 1000 ? 2.5 : 4, pointHoverRadius: 6,
          };
        }),
      },
      options: {
        scales: {
          x: axis(figure.dataset.x),
          y: axis(figure.dataset.y, { suggestedMin: low && least(heights), suggestedMax: low && largest(heights), ...ceiling(figure, heights) }),
        },
        plugins: {
          legend: legend(ordered.length > 1 && ordered.length <= MANY_GROUPS),
          tooltip: { callbacks: { label: (point) => `${point.dataset.label}${point.raw.told ? ": " + point.raw.told : ""}` } },
        },
      },
    };
  };

  // A box plot of bars over one another: the whisker, the box, and marks of no length for median and ends.
  const boxes = (figure, { columns, rows }) => {
    figure.querySelector(".plot").style.height = `${rows.length * (ROW_PIXELS + 6) + 80}px`;
    const span = (from, to) => rows.map((row) => [number(row[from]), number(row[to])]);
    const layer = (label, from, to, thickness, backgroundColor, more = {}) =>
      ({ label, data: span(from, to), grouped: false, barThickness: thickness, backgroundColor, ...more });
    const mark = { minBarLength: 3 };
    const names = axis(figure.dataset.x, { ticks: { color: ink("--ink"), autoSkip: false, callback(at) { return called(figure.dataset.rows, this.getLabelForValue(at)); } } });
    return {
      type: "bar",
      data: {
        labels: rows.map((row) => text(row[0])),
        datasets: [  // the first is on top
          layer(columns[4], 4, 4, 16, ink("--ink"), mark), layer("box", 3, 5, 16, colours()[5]), layer("whiskers", 2, 6, 2, ink("--faint")),
          layer(columns[1], 1, 1, 7, ink("--faint"), mark), layer(columns[7], 7, 7, 7, ink("--faint"), mark),
        ],
      },
      options: {
        indexAxis: "y",
        scales: { x: values(figure, figure.dataset.y, { beginAtZero: false }), y: names },
        interaction: { mode: "index", axis: "y", intersect: false },
        plugins: {
          legend: legend(false),
          tooltip: {
            filter: (item) => item.datasetIndex === 0,
            callbacks: { label: (item) => rows[item.dataIndex].slice(1).map((cell, i) => `${columns[i + 1]}: ${text(cell)}`) },
          },
        },
      },
    };
  };

  const KINDS = { bar: bars, histogram, line: lines, scatter, box: boxes };

  const draw = (figure) => {
    const config = KINDS[figure.dataset.kind](figure, read(figure));
    config.options = { animation: false, responsive: true, maintainAspectRatio: false, ...config.options };
    drawn.push(new Chart(figure.querySelector("canvas"), config));
  };
  const draw_all = () => {
    drawn.splice(0).forEach((chart) => chart.destroy());
    Chart.defaults.font = { ...Chart.defaults.font, size: 13, family: getComputedStyle(document.body).fontFamily };
    document.querySelectorAll("figure.chart").forEach(draw);
  };
  draw_all();
  dark.addEventListener("change", draw_all);
  // Paper is light.
  addEventListener("beforeprint", () => { page.add("paper"); draw_all(); });
  addEventListener("afterprint", () => { page.remove("paper"); draw_all(); });
})();
