// SPDX-License-Identifier: Apache-2.0
//
// Overwrites objects as they are deleted, so that whoever uses one afterwards
// fails without a sanitizer, too.

#include <cstdlib>
#include <cstring>
#include <new>

void operator delete(void *memory, std::size_t bytes) noexcept {
  std::memset(memory, 0xdd, memory ? bytes : 0);
  // The compiler would drop what nobody may read.
  asm volatile("" : : "r"(memory) : "memory");
  std::free(memory);
}

/// Of those, the size is not known.
void operator delete(void *memory) noexcept { std::free(memory); }
