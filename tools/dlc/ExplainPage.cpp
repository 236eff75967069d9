// SPDX-License-Identifier: Apache-2.0

#include "ExplainPage.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

using namespace dlc::tool;

static constexpr double kWidth = 1100, kMapHeight = 360, kTimelineHeight = 60;

static std::string format(const char *text, ...)
    __attribute__((format(printf, 1, 2)));

static std::string format(const char *text, ...) {
  char buffer[512];
  va_list arguments;
  va_start(arguments, text);
  std::vsnprintf(buffer, sizeof buffer, text, arguments);
  va_end(arguments);
  return buffer;
}

static std::string escape(const std::string &text) {
  std::string result;
  for (char c : text) {
    switch (c) {
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '&':
      result += "&amp;";
      break;
    case '"':
      result += "&quot;";
      break;
    default:
      result += c;
    }
  }
  return result;
}

static const char *colourOf(const std::string &kind) {
  if (kind == "Library")
    return "#4878a8";
  if (kind == "Generated")
    return "#5a9e6f";
  if (kind == "Reference")
    return "#c8553d";
  return "#999999";
}

/// Launches side by side, as wide as they are long.
static std::string makeTimeline(const ExplainReport &report) {
  double total = 0;
  for (const LaunchReport &launch : report.launches)
    total += launch.microseconds;
  std::string svg =
      format("<svg viewBox=\"0 0 %g %g\">\n", kWidth, kTimelineHeight);
  double at = 0;
  for (const LaunchReport &launch : report.launches) {
    double width = total > 0 ? launch.microseconds / total * kWidth : 0;
    svg += format("<rect x=\"%.2f\" y=\"0\" width=\"%.2f\" height=\"%g\" "
                  "fill=\"%s\"><title>",
                  at, width, kTimelineHeight, colourOf(launch.kind));
    svg += escape(launch.label + " " + launch.kernel) +
           format(", %.1f us", launch.microseconds) + "</title></rect>\n";
    at += width;
  }
  return svg + "</svg>\n";
}

/// Launches from left to right, bytes of the arena upwards.
static std::string makeMemoryMap(const ExplainReport &report) {
  std::string svg = format("<svg viewBox=\"0 0 %g %g\">\n", kWidth, kMapHeight);
  double stepWidth = kWidth / std::max<size_t>(report.launches.size(), 1);
  double scale = kMapHeight / std::max<double>(report.arenaBytes, 1);
  for (size_t i = 0; i < report.ranges.size(); ++i) {
    const MemoryRange &range = report.ranges[i];
    double height = range.bytes * scale;
    svg += format(
        "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
        "fill=\"hsl(%zu 45%% 62%%)\"><title>%llu bytes at %llu, launches "
        "%zu to %zu</title></rect>\n",
        range.first * stepWidth, kMapHeight - range.offset * scale - height,
        (range.last - range.first + 1) * stepWidth, height, i * 47 % 360,
        static_cast<unsigned long long>(range.bytes),
        static_cast<unsigned long long>(range.offset), range.first, range.last);
  }
  return svg + "</svg>\n";
}

static std::string makeTable(const ExplainReport &report) {
  std::string html = "<table><tr><th>us</th><th>GF/s</th><th>GB/s</th>"
                     "<th>roof %</th>";
  if (!report.peer.empty())
    html += "<th>" + escape(report.peer) + " us</th>";
  html += "<th>kind</th><th>bound</th><th>memory</th>"
          "<th>kernel</th><th>node</th><th>why</th></tr>\n";
  for (const LaunchReport &launch : report.launches) {
    html +=
        format("<tr><td>%.1f</td><td>%.1f</td><td>%.1f</td>",
               launch.microseconds, launch.flops / launch.microseconds / 1e3,
               launch.bytes / launch.microseconds / 1e3);
    html +=
        launch.roof ? format("<td>%.0f</td>", 100 * *launch.roof) : "<td></td>";
    if (!report.peer.empty())
      html += launch.peer ? format("<td>%.1f</td>", *launch.peer) : "<td></td>";
    for (const std::string *text :
         {&launch.kind, &launch.bound, &launch.memory, &launch.kernel,
          &launch.label, &launch.note})
      html += "<td class=\"text\">" + escape(*text) + "</td>";
    html += "</tr>\n";
  }
  return html + "</table>\n";
}

std::string dlc::tool::makePage(const ExplainReport &report) {
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<title>" +
      escape(report.model) +
      "</title>\n<style>\n"
      "body { font: 14px sans-serif; margin: 2em auto; max-width: 1100px; }\n"
      "svg { width: 100%; border: 1px solid #ccc; background: #fafafa; }\n"
      "rect { stroke: white; stroke-width: 0.3; }\n"
      "td { text-align: right; padding: 1px 8px; }\n"
      "td.text { text-align: left; }\n</style></head><body>\n"
      "<h1>" +
      escape(report.model) + "</h1>\n";
  html += format("<p>Arena: %llu bytes planned, lower bound %llu. Weights: "
                 "%llu bytes. Launches: %zu.</p>\n",
                 static_cast<unsigned long long>(report.arenaBytes),
                 static_cast<unsigned long long>(report.lowerBoundBytes),
                 static_cast<unsigned long long>(report.constantBytes),
                 report.launches.size());
  if (!report.batch.empty())
    html += "<p>Of the batch " + escape(report.batch) +
            "; this is the first.</p>\n";
  for (const std::string &code : report.code)
    html += "<p>Code: " + escape(code) + "</p>\n";
  html += "<h2>Timeline</h2>\n<p>Each launch as wide as its best time; "
          "blue: library, green: generated, red: Reference.</p>\n" +
          makeTimeline(report);
  html += "<h2>Memory</h2>\n<p>Launches from left to right, bytes of the "
          "arena upwards.</p>\n" +
          makeMemoryMap(report);
  html +=
      format("<h2>Launches</h2>\n<p>Roof: %.1f GF/s in products of "
             "matrices, %.1f of floats rounded to bf16, %.1f of bytes, %.1f "
             "GB/s in copies, all measured here; what the caches hold is "
             "faster.</p>\n",
             report.roof.gigaflops(Factors::Floats),
             report.roof.gigaflops(Factors::Rounded),
             report.roof.gigaflops(Factors::Bytes), report.roof.gigabytes());
  html += makeTable(report);
  return html + "</body></html>\n";
}
