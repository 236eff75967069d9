// SPDX-License-Identifier: Apache-2.0
//
// Hides instruction sets from a process and those that it starts, peers too:
// so that paths for lesser processors are compared on one that has more. To be
// preloaded, with HIDE_CPU=x86-64-v2, x86-64-v3, avx-vnni (x86-64-v3 and that)
// or x86-64-v4: what is left.
//
// Each cpuid becomes a signal (arch_prctl(2), ARCH_SET_CPUID), whose handler
// asks in its place and clears bits of the answer (Intel SDM, volume 2, CPUID).
// What the loader found out before stays: strings are copied with all there is;
// and so do instructions that nobody here computes with, as those for keys. A
// program cannot handle SIGSEGV itself: its handlers are not installed.

#define _GNU_SOURCE
#include <asm/prctl.h>
#include <cpuid.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { kA, kB, kC, kD };

/// Bits of one register of an answer, which are there up to a level.
struct Feature {
  uint32_t leaf, subleaf;
  int reg;
  uint32_t bits;
};

#define BIT(n) (UINT32_C(1) << (n))

/// By what lacks them: everything, then all but AVX-VNNI, and so on.
static const struct Feature beyondV4[] = {
    {7, 0, kB, BIT(21)},                            // IFMA
    {7, 0, kC, BIT(1) | BIT(6) | BIT(11)},          // VBMI, VBMI2, VNNI
    {7, 0, kC, BIT(12) | BIT(14)},                  // BITALG, VPOPCNTDQ
    {7, 0, kD, BIT(2) | BIT(3) | BIT(8) | BIT(23)}, // 4VNNIW, 4FMAPS, FP16, ...
    {7, 0, kD, BIT(22) | BIT(24) | BIT(25)},        // AMX
    {7, 1, kA, BIT(5) | BIT(21) | BIT(23)},         // BF16, AMX-FP16, AVX-IFMA
    {7, 1, kD, BIT(4) | BIT(5) | BIT(8) | BIT(10) | BIT(19)},
};
static const struct Feature avxVnni[] = {{7, 1, kA, BIT(4)}};
static const struct Feature v4[] = {
    {7, 0, kB, BIT(16) | BIT(17) | BIT(28) | BIT(30) | BIT(31)},
};
static const struct Feature v3[] = {
    {1, 0, kC, BIT(12) | BIT(22) | BIT(28) | BIT(29)}, // FMA, MOVBE, AVX, F16C
    {7, 0, kB, BIT(3) | BIT(5) | BIT(8)},              // BMI, AVX2, BMI2
    {7, 0, kC, BIT(9) | BIT(10)},                      // VAES, VPCLMULQDQ
    {0x80000001, 0, kC, BIT(5)},                       // LZCNT
};

static int hidesV3, hidesV4, hidesVnni;

static void clear(const struct Feature *features, size_t count, uint32_t leaf,
                  uint32_t subleaf, uint32_t answer[4]) {
  for (size_t i = 0; i < count; ++i)
    if (features[i].leaf == leaf && features[i].subleaf == subleaf)
      answer[features[i].reg] &= ~features[i].bits;
}
#define CLEAR(features)                                                        \
  clear(features, sizeof(features) / sizeof *(features), leaf, subleaf, answer)

static long letCpuid(int isAllowed) {
  return syscall(SYS_arch_prctl, ARCH_SET_CPUID, (unsigned long)isAllowed);
}

static int nextSigaction(int signal, const struct sigaction *action,
                         struct sigaction *before) {
  static int (*next)(int, const struct sigaction *, struct sigaction *);
  if (!next)
    *(void **)&next = dlsym(RTLD_NEXT, "sigaction");
  return next(signal, action, before);
}

static void answerCpuid(int signal, siginfo_t *info, void *context) {
  greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
  const uint8_t *code = (const uint8_t *)registers[REG_RIP];
  if (info->si_code != SI_KERNEL || code[0] != 0x0f || code[1] != 0xa2) {
    // A fault like any other, which comes again.
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    (void)nextSigaction(signal, &usual, NULL);
    return;
  }
  const uint32_t leaf = (uint32_t)registers[REG_RAX];
  const uint32_t subleaf = leaf == 7 ? (uint32_t)registers[REG_RCX] : 0;
  uint32_t answer[4];
  (void)letCpuid(1);
  __cpuid_count(leaf, (uint32_t)registers[REG_RCX], answer[kA], answer[kB],
                answer[kC], answer[kD]);
  (void)letCpuid(0);
  CLEAR(beyondV4);
  if (hidesVnni)
    CLEAR(avxVnni);
  if (hidesV4)
    CLEAR(v4);
  if (hidesV3)
    CLEAR(v3);
  registers[REG_RAX] = answer[kA];
  registers[REG_RBX] = answer[kB];
  registers[REG_RCX] = answer[kC];
  registers[REG_RDX] = answer[kD];
  registers[REG_RIP] += 2;
}

/// Handlers of others would not know what to do with a cpuid.
int sigaction(int signal, const struct sigaction *action,
              struct sigaction *before) {
  const int isOurs = !action || action->sa_sigaction == answerCpuid;
  if (signal != SIGSEGV || isOurs || !getenv("HIDE_CPU"))
    return nextSigaction(signal, action, before);
  if (before)
    memset(before, 0, sizeof *before);
  return 0;
}

__attribute__((constructor)) static void hide(void) {
  const char *left = getenv("HIDE_CPU");
  if (!left)
    return;
  hidesVnni = strcmp(left, "avx-vnni") != 0;
  hidesV3 = strcmp(left, "x86-64-v2") == 0;
  hidesV4 = strcmp(left, "x86-64-v4") != 0;
  if (hidesVnni && !hidesV3 && hidesV4 && strcmp(left, "x86-64-v3") != 0) {
    fprintf(stderr,
            "HIDE_CPU: expected x86-64-v2, x86-64-v3, avx-vnni or x86-64-v4, "
            "got '%s'\n",
            left);
    _exit(2);
  }
  struct sigaction action = {.sa_sigaction = answerCpuid,
                             .sa_flags = SA_SIGINFO | SA_NODEFER};
  if (sigaction(SIGSEGV, &action, NULL) || letCpuid(0)) {
    fputs("HIDE_CPU: this processor, or what it runs in, cannot hide anything "
          "(cpuid_fault is missing in /proc/cpuinfo)\n",
          stderr);
    _exit(2);
  }
}
