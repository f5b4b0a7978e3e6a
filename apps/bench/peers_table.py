"""How peers.py shows what it measured: a Markdown table, and bars as SVG.

A row is (case, precision, {system: [result of each round]}); a system that failed is not in it. Our bound is the rate
if only the convolutions and matrix products took time (convoke bench --help).
"""
import statistics

from peers_cases import SYSTEMS

COLORS = {"convoke": "#0b6e99", "fit": "#b5b5b5", "function": "#999999", "eager": "#d0d0d0", "compiled": "#c2c2c2"}


def median(results, key):
    return statistics.median(result[key] for result in results)


def rate(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def label(case, precision):
    cores = f", {case.cores} cores" if case.cores > 1 else ""
    return f"{case.label}, {precision}, batch {case.batch}{cores}"


def speed_ratio(results):
    """Of every round: ours to the fastest of the others; None without others."""
    others = [s for s in results if s != "convoke"]
    if not others or "convoke" not in results:
        return None
    return [ours["images_per_second"] / max(results[s][i]["images_per_second"] for s in others)
            for i, ours in enumerate(results["convoke"])]


def memory_ratio(results):
    """Ours to that of the fastest of the others."""
    others = [s for s in results if s != "convoke"]
    best = max(others, key=lambda s: median(results[s], "images_per_second"))
    return median(results["convoke"], "peak_rss_mib") / median(results[best], "peak_rss_mib")


def cell(case, results):
    text = (f"{rate(median(results, 'images_per_second'))} {case.unit}, first step "
            f"{median(results, 'seconds_to_first_step'):.1f} s, {median(results, 'peak_rss_mib'):.0f} MiB")
    bounds = [r["images_per_second"] / r["bound_images_per_second"] for r in results if r.get("bound_images_per_second")]
    return f"{text}, {100 * statistics.median(bounds):.0f} % of its bound" if bounds else text


def markdown(rows, systems):
    """The slowest of ours, compared with the others, first."""
    lines = ["| training step | " + " | ".join(SYSTEMS[s].name for s in systems) + " | speed: ratio to the best | "
             "memory: ratio to the same |", "|---" * (len(systems) + 3) + "|"]
    for case, precision, results in sorted(rows, key=lambda row: statistics.median(speed_ratio(row[2]) or [0])):
        cells = [cell(case, results[s]) if s in results else "–" for s in systems]
        ratios = speed_ratio(results)
        if ratios:
            cells += [f"**{statistics.median(ratios):.2f}** ({min(ratios):.2f}–{max(ratios):.2f})",
                      f"{memory_ratio(results):.2f}"]
        else:
            cells += ["–", "–"]
        lines.append(f"| {label(case, precision)} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def svg(rows, systems, machine):
    """A bar for each system, in groups; each group is scaled by its longest bar."""
    left, width, bar, gap = 230, 380, 20, 22
    height = sum(len(results) * bar + gap for _, _, results in rows) + 54
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 820 {height}" font-family="sans-serif" font-size="13">',
           f'<rect width="820" height="{height}" fill="#ffffff"/>',
           '<text x="12" y="22" font-size="15" font-weight="bold">Training step, samples per second</text>']
    y = 40
    for case, precision, results in rows:
        rates = {s: median(results[s], "images_per_second") for s in systems if s in results}
        out.append(f'<text x="{left - 12}" y="{y + len(rates) * bar / 2 + 4}" text-anchor="end">'
                   f'{label(case, precision)}</text>')
        for s, value in rates.items():
            length = width * value / max(rates.values())
            weight = ' font-weight="bold"' if s == "convoke" else ""
            name = SYSTEMS[s].name.replace("`", "")
            out.append(f'<rect x="{left}" y="{y}" width="{length:.1f}" height="{bar - 3}" fill="{COLORS[s]}"/>')
            out.append(f'<text x="{left + length + 8:.1f}" y="{y + 13}"{weight}>{name} {rate(value)}</text>')
            y += bar
        y += gap
    out += [f'<text x="12" y="{height - 8}" font-size="11" fill="#666666">{machine}</text>', "</svg>"]
    return "\n".join(out) + "\n"
