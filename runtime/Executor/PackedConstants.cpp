// SPDX-License-Identifier: Apache-2.0

#include "PackedConstants.h"

#include <algorithm>

using namespace dlc::rt;

/// Under the lock also while it is packed: others would do the same meanwhile.
PackedConstants::Packed
PackedConstants::find(const void *constant, const std::string &form,
                      const std::function<Packed()> &pack) {
  std::scoped_lock lock(mutex);
  std::erase_if(known, [](const Known &k) { return k.packed.expired(); });
  auto found = std::ranges::find_if(known, [&](const Known &k) {
    return k.constant == constant && k.form == form;
  });
  if (found != known.end())
    if (Packed packed = found->packed.lock())
      return packed;
  Packed packed = pack();
  if (packed)
    known.push_back({constant, form, packed});
  return packed;
}

int64_t PackedConstants::packingOf(const void *constant,
                                   const std::string &form,
                                   const std::function<int64_t()> &choose) {
  std::scoped_lock lock(mutex);
  auto found = std::ranges::find_if(choices, [&](const Choice &choice) {
    return choice.constant == constant && choice.form == form;
  });
  if (found == choices.end())
    found = choices.insert(choices.end(), {constant, form, choose()});
  return found->packing;
}
