// SPDX-License-Identifier: Apache-2.0

#include "Window.h"

using namespace dlc;
using namespace dlc::symbol;
using mlir::Value;

std::vector<Parameter> symbol::convolutionWindow() {
  return {required("kernel", ParameterKind::Ints,
                   "Extents of the window: (w), (h, w) or (d, h, w).")
              .within(1, kMaxExtent),
          optional("stride", ParameterKind::Ints, "()",
                   "Steps of the window; () means ones.")
              .within(1, kMaxExtent),
          optional("dilate", ParameterKind::Ints, "()",
                   "Distances of the window's elements; () means ones.")
              .within(1, kMaxExtent),
          optional("pad", ParameterKind::Ints, "()",
                   "Zeros on both sides of each dimension; () means none.")
              .within(0, kMaxExtent)};
}

Parameter symbol::layoutParameter() {
  return choice("layout", {"NCW", "NCHW", "NCDHW", "NWC", "NHWC", "NDHWC"},
                "None",
                "Order of the data's dimensions; None: channels are second.");
}

bool symbol::isChannelsLast(const Parameters &parameters) {
  return !parameters.isNone("layout") &&
         parameters.getText("layout").ends_with('C');
}

llvm::SmallVector<NamedValue> Window::attributes() const {
  return {{"strides", llvm::ArrayRef<int64_t>(strides)},
          {"pads", llvm::ArrayRef<int64_t>(pads)},
          {"dilations", llvm::ArrayRef<int64_t>(dilations)}};
}

bool symbol::checkExtents(LoweringContext &n, Value x) {
  for (int64_t i = 0, rank = n.rank(x); i < rank; ++i)
    if (int64_t extent = GraphBuilder::dimOf(x, i);
        !mlir::ShapedType::isDynamic(extent) && extent > kMaxExtent) {
      n.unsupported("data with an extent of " + llvm::Twine(extent));
      return false;
    }
  return !n.b.failed();
}

bool symbol::readWindow(LoweringContext &n, Value x, Window &window) {
  int64_t rank = n.rank(x);
  if (!checkExtents(n, x))
    return false;
  size_t spatial = n.p.getInts("kernel").size();
  if (rank != static_cast<int64_t>(spatial) + 2) {
    n.fail("expected data of " + llvm::Twine(spatial + 2) +
           " dimensions for a kernel of " + llvm::Twine(spatial) + ", got " +
           llvm::Twine(rank));
    return false;
  }
  if (!n.p.isNone("layout") && n.p.getText("layout").size() != spatial + 2) {
    n.fail("parameter 'layout': expected one of " + llvm::Twine(spatial + 2) +
           " dimensions, got " + n.p.getText("layout"));
    return false;
  }
  auto read = [&](const char *name, Ints &values) {
    const std::vector<int64_t> &given = n.p.getInts(name);
    values.assign(given.begin(), given.end());
    return checkLength(n, name, spatial);
  };
  if (!read("kernel", window.kernel) || !read("stride", window.strides) ||
      !read("pad", window.pads))
    return false;
  window.pads.append(Ints(window.pads));
  return true;
}

Value symbol::toChannelsFirst(LoweringContext &n, Value x) {
  if (!isChannelsLast(n.p))
    return x;
  int64_t rank = n.rank(x);
  if (rank >= 3)
    return moveAxis(n, x, rank - 1, 1);
  n.fail("expected data of at least 3 dimensions, got " + llvm::Twine(rank));
  return {};
}

Value symbol::fromChannelsFirst(LoweringContext &n, Value x) {
  return isChannelsLast(n.p) ? moveAxis(n, x, 1, n.rank(x) - 1) : x;
}

Shape symbol::toChannelsFirst(const Parameters &parameters, Shape shape) {
  if (shape && shape->size() > 2 && isChannelsLast(parameters))
    std::rotate(shape->begin() + 1, shape->end() - 1, shape->end());
  return shape;
}

Shape symbol::fromChannelsFirst(const Parameters &parameters, Shape shape) {
  if (shape && shape->size() > 2 && isChannelsLast(parameters))
    std::rotate(shape->begin() + 1, shape->begin() + 2, shape->end());
  return shape;
}
