#include "convoke/report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "convoke/core/csv.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/metrics/json.hpp"
#include "report/chart/drawing.hpp"
#include "report/chart/series_style.hpp"
#include "report/page/html.hpp"

namespace convoke::report {
namespace {

using Entity = std::pair<char, std::string_view>;
constexpr std::array<Entity, 5> kEntities{
    {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}}};

// Returns JSON that cannot end the surrounding script element.
std::string embedded(std::string json) {
  for (std::size_t at = 0; (at = json.find('<', at)) != std::string::npos;) json.replace(at, 1, "\\u003c");
  return "[" + json + "]";
}

// Returns all drawings for charts.js.
std::string drawings_json(std::span<const Chart> charts) {
  const SeriesStyles styles(charts);
  std::string json;
  for (const Chart& chart : charts)
    json += (json.empty() ? "" : ",\n") + metrics::to_json(Drawing(chart, styles.of(chart)).settings());
  return embedded(json);
}

// Returns the script element with the heat maps, and their script; empty if there are none.
std::string heat_map_elements(std::span<const HeatMap> maps) {
  if (maps.empty()) return {};
  std::string json;
  for (const HeatMap& map : maps) json += (json.empty() ? "" : ",\n") + metrics::to_json(map.settings());
  return fmt::format("<script id=heat-maps type=\"application/json\">{}</script>\n<script>{}</script>\n",
                     embedded(json), heat_map_script());
}

}  // namespace

std::string escape(std::string_view text) {
  std::string html;
  html.reserve(text.size());
  for (const char c : harmless(text)) {
    const auto* entity = std::ranges::find(kEntities, c, &Entity::first);
    if (entity == kEntities.end()) {
      html += c;
    } else {
      html += entity->second;
    }
  }
  return html;
}

bool begins_as_page(std::string_view bytes) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  constexpr std::string_view kType = "<!doctype html";
  if (bytes.starts_with(kByteOrderMark)) bytes.remove_prefix(kByteOrderMark.size());
  bytes.remove_prefix(std::min(bytes.find_first_not_of(" \t\r\n"), bytes.size()));
  const std::string beginning = lower_case(std::string(bytes.substr(0, kType.size())));
  return beginning == kType || beginning.starts_with("<html");
}

Page::Page(std::string title, std::string subtitle)
    : title_(std::move(title)), subtitle_(std::move(subtitle)) {}

void Page::section(std::string_view name) {
  if (!sections_.empty()) body_ += "</section>\n";
  sections_.emplace_back(name);
  heading_ = name;
  body_ += fmt::format("<section id=s{}>\n<h2>{}</h2>\n", sections_.size(), escape(name));
}

void Page::heading(std::string_view text) {
  heading_ = text;
  body_ += fmt::format("<h3>{}</h3>\n", escape(text));
}

void Page::paragraph(std::string_view text) { body_ += fmt::format("<p>{}</p>\n", escape(text)); }

void Page::code(std::string_view text) {
  body_ += fmt::format("<pre class=code tabindex=0 role=region aria-label=Command>{}</pre>\n", escape(text));
}

void Page::folded(std::string_view name, std::string_view text) {
  body_ += fmt::format(
      "<details><summary>{0}</summary>\n<pre tabindex=0 role=region aria-label=\"{0}\">{1}</pre></details>\n",
      escape(name), escape(text));
}

void Page::warning(std::string_view text) {
  body_ += fmt::format("<p class=warning role=note>{}</p>\n", escape(text));
}

void Page::facts(const std::vector<std::pair<std::string, std::string>>& facts) {
  body_ += "<dl class=facts>\n";
  for (const auto& [name, value] : facts) {
    body_ += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escape(name), escape(value));
  }
  body_ += "</dl>\n";
}

void Page::add(const Table& table) {
  tables_.push_back({place(), table});
  body_ += table.html(tables_.back().title);
}

void Page::add(const Chart& chart) {
  charts_.push_back(chart);
  body_ += chart.html();
}

void Page::side_by_side(std::span<const Chart> charts) {
  body_ += "<div class=charts>\n";
  for (const Chart& chart : charts) add(chart);
  body_ += "</div>\n";
}

void Page::add(const HeatMap& map) {
  heat_maps_.push_back(map);
  body_ += map.html();
}

void Page::add(std::span<const Figure> figures) {
  galleries_.push_back({place(), {figures.begin(), figures.end()}});
  body_ += gallery(figures);
}

bool has_charts() { return !chart_library().empty(); }

void require_charts() {
  if (!has_charts()) {
    throw Error("this build of Convoke has no charts: Chart.js was not installed when it was built",
                "run `apt-get install libjs-chart.js`, then configure and build again");
  }
}

std::string Page::html() const {
  require_charts();
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
      "<meta http-equiv=Content-Security-Policy content=\"{}\">\n"
      "<meta name=viewport content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n"
      "<link rel=icon href=\"data:,\">\n<style>",
      page_policy(), escape(title_));
  html += page_style();
  html +=
      fmt::format("</style>\n</head>\n<body>\n<header>\n<h1>{}</h1>\n<p>{}</p>\n<nav aria-label=Sections>\n",
                  escape(title_), escape(subtitle_));
  for (std::size_t i = 0; i < sections_.size(); ++i) {
    html += fmt::format("<a href=#s{}>{}</a>\n", i + 1, escape(sections_[i]));
  }
  html +=
      "</nav>\n</header>\n<main>\n" + body_ + (sections_.empty() ? "" : "</section>\n") + "</main>\n<script>";
  html += chart_library();
  html += "</script>\n<script id=drawings type=\"application/json\">" + drawings_json(charts_) +
          "</script>\n<script>";
  html += chart_script();
  html += "</script>\n" + heat_map_elements(heat_maps_) + "</body>\n</html>\n";
  return html;
}

}  // namespace convoke::report
