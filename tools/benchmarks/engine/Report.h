// SPDX-License-Identifier: Apache-2.0
//
// Figures over passes, and how they are printed: lines of JSON, or tables.

#ifndef DLC_TOOLS_BENCHMARKS_ENGINE_REPORT_H
#define DLC_TOOLS_BENCHMARKS_ENGINE_REPORT_H

#include "Peer.h"

#include <string>
#include <vector>

namespace dlc::bench {

/// The middle value; of an even number the lower of the two in the middle.
double medianOf(std::vector<double> values);

/// Nanoseconds of one operation (edge, start), over all passes.
struct Series {
  std::vector<double> submit, total;
  void add(const Sample &sample, size_t operations) {
    submit.push_back(sample.submit / operations);
    total.push_back(sample.total / operations);
  }
};

class Report {
public:
  explicit Report(bool isJSON) : isJSON(isJSON) {}

  /// Opens a table; `unit` says what the nanoseconds are for, `ratioOf` whose
  /// totals ratios are taken of.
  void beginTable(const std::string &title, const std::string &unit,
                  const std::string &ratioOf = "MXNet");
  /// One pattern of one engine. `referenceTotal` is the median total that the
  /// ratio is taken of; 0 for none.
  void addSeries(const std::string &pattern, const std::string &engine,
                 const Series &series, double referenceTotal);
  /// A single figure, such as {"task_ns", 480}.
  void addFigure(const std::string &pattern, const std::string &engine,
                 const std::string &key, double value);
  /// Why there is no figure.
  void addNote(const std::string &pattern, const std::string &engine,
               const std::string &note);

private:
  bool isJSON;
  std::string reference;
};

} // namespace dlc::bench

#endif // DLC_TOOLS_BENCHMARKS_ENGINE_REPORT_H
