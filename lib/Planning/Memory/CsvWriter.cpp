// SPDX-License-Identifier: Apache-2.0
//
// Writes packing problems and packings as text.

#include "dlc/Planning/Memory/Csv.h"

#include "Instance.h"

#include <algorithm>

namespace dlc::planning {
namespace {

/// Per buffer: its base and the distance from it, if any.
using Tie = std::optional<std::pair<size_t, int64_t>>;

/// A row has room for one alias. When a buffer is the view of several, each
/// group is written as views of its first buffer, which says the same.
std::vector<Tie> tiesOf(const Problem &problem) {
  std::vector<Tie> ties(problem.buffers.size());
  bool fits = true;
  for (const Alias &alias : problem.aliases) {
    fits &= !ties[alias.view];
    ties[alias.view] = {alias.base, alias.delta};
  }
  Instance instance;
  if (fits || buildInstance(problem, instance))
    return ties;
  std::vector<size_t> firstOf(instance.items.size(), problem.buffers.size());
  for (size_t i = 0; i < ties.size(); ++i) {
    size_t &first = firstOf[instance.itemOf[i]];
    first = std::min(first, i);
    ties[i].reset();
    if (first != i)
      ties[i] = {first, instance.relOf[i] - instance.relOf[first]};
  }
  return ties;
}

/// The columns that the problem has use for.
struct Columns {
  bool alignment = false, offset = false, alias = false;
};

std::string write(const Problem &problem, Columns columns,
                  const Solution *solution) {
  const std::vector<Tie> ties = tiesOf(problem);
  std::string text = "id,lower,upper,size";
  text += columns.alignment ? ",alignment" : "";
  text += columns.alias ? ",alias_of,alias_delta" : "";
  text += columns.offset ? ",offset\n" : "\n";
  auto add = [&](int64_t number) { text += ',' + std::to_string(number); };
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer &buffer = problem.buffers[i];
    text += buffer.id;
    add(buffer.lower);
    add(buffer.upper);
    add(buffer.size);
    if (columns.alignment)
      add(buffer.alignment);
    if (columns.alias && ties[i]) {
      text += ',' + problem.buffers[ties[i]->first].id;
      add(ties[i]->second);
    } else if (columns.alias) {
      text += ",,";
    }
    if (solution)
      add(solution->offsets[i]);
    else if (columns.offset && buffer.pinnedOffset)
      add(*buffer.pinnedOffset);
    else if (columns.offset)
      text += ',';
    text += '\n';
  }
  return text;
}

Columns columnsOf(const Problem &problem) {
  Columns columns;
  for (const Buffer &buffer : problem.buffers) {
    columns.alignment |= buffer.alignment != 1;
    columns.offset |= buffer.pinnedOffset.has_value();
  }
  columns.alias = !problem.aliases.empty();
  return columns;
}

} // namespace

std::string writeCsv(const Problem &problem) {
  return write(problem, columnsOf(problem), nullptr);
}

std::string writeCsv(const Problem &problem, const Solution &solution) {
  Columns columns = columnsOf(problem);
  columns.offset = true;
  return write(problem, columns, &solution);
}

} // namespace dlc::planning
