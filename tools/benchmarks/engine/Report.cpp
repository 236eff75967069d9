// SPDX-License-Identifier: Apache-2.0

#include "Report.h"

#include <algorithm>
#include <cstdio>

using namespace dlc::bench;

double dlc::bench::medianOf(std::vector<double> values) {
  auto middle = values.begin() + (values.size() - 1) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

static double leastOf(const std::vector<double> &values) {
  return *std::min_element(values.begin(), values.end());
}

void Report::beginTable(const std::string &title, const std::string &unit,
                        const std::string &ratioOf) {
  reference = ratioOf;
  if (!isJSON)
    std::printf("\n%s (%s)\n%-28s %-20s %18s %18s %8s\n", title.c_str(),
                unit.c_str(), "pattern", "engine", "submit med (min)",
                "total med (min)", ("of " + ratioOf).c_str());
}

void Report::addSeries(const std::string &pattern, const std::string &engine,
                       const Series &series, double referenceTotal) {
  double submit = medianOf(series.submit), total = medianOf(series.total);
  double leastSubmit = leastOf(series.submit),
         leastTotal = leastOf(series.total);
  if (isJSON) {
    std::printf("{\"pattern\":\"%s\",\"engine\":\"%s\",\"submit_ns\":%.1f,"
                "\"total_ns\":%.1f,\"submit_min_ns\":%.1f,"
                "\"total_min_ns\":%.1f,\"passes\":%zu",
                pattern.c_str(), engine.c_str(), submit, total, leastSubmit,
                leastTotal, series.total.size());
    if (referenceTotal > 0)
      std::printf(",\"ratio\":%.4f,\"of\":\"%s\"", total / referenceTotal,
                  reference.c_str());
    std::printf("}\n");
  } else {
    std::printf("%-28s %-20s %8.1f (%7.1f) %8.1f (%7.1f)", pattern.c_str(),
                engine.c_str(), submit, leastSubmit, total, leastTotal);
    if (referenceTotal > 0)
      std::printf(" %8.3f", total / referenceTotal);
    std::printf("\n");
  }
  std::fflush(stdout);
}

void Report::addFigure(const std::string &pattern, const std::string &engine,
                       const std::string &key, double value) {
  if (isJSON)
    std::printf("{\"pattern\":\"%s\",\"engine\":\"%s\",\"%s\":%.3f}\n",
                pattern.c_str(), engine.c_str(), key.c_str(), value);
  else
    std::printf("%-28s %-20s %s %.3f\n", pattern.c_str(), engine.c_str(),
                key.c_str(), value);
  std::fflush(stdout);
}

void Report::addNote(const std::string &pattern, const std::string &engine,
                     const std::string &note) {
  if (isJSON)
    std::printf("{\"pattern\":\"%s\",\"engine\":\"%s\",\"note\":\"%s\"}\n",
                pattern.c_str(), engine.c_str(), note.c_str());
  else
    std::printf("%-28s %-20s %s\n", pattern.c_str(), engine.c_str(),
                note.c_str());
  std::fflush(stdout);
}
