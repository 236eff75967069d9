// SPDX-License-Identifier: Apache-2.0
//
// Writes the program of RuntimeTest.c to the path that is its argument.

#include "../ProgramBuilder.h"

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  auto builder = dlc::rt::test::addReluBuilder();
  dlc::rt::Status status = dlc::rt::writeArtifact(builder.contents(), argv[1]);
  std::fputs(status.message().c_str(), stderr);
  return status.isOk() ? 0 : 1;
}
