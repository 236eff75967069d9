// SPDX-License-Identifier: Apache-2.0
//
// The compiler's programs say this themselves (lib/Codegen/CPU/Linker.cpp); the
// sanitizer does not look for it in a shared library.

const char *__asan_default_options(void);

const char *__asan_default_options(void) { return "allow_user_poisoning=0"; }
