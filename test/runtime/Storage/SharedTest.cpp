// SPDX-License-Identifier: Apache-2.0
//
// Memory between processes: every test that forks lets the child's exit status
// say what it saw.

#include "dlc/runtime/Storage/Shared.h"
#include "../InChild.h"

#include <cstring>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace dlc::rt;
using namespace dlc::rt::test;

namespace {

constexpr Context shared = Context::cpuShared();
using Manager = std::unique_ptr<SharedManager, AbandonManager>;

Allocation allocate(StorageManager &manager, size_t bytes) {
  Result<Allocation> block = manager.allocate(bytes);
  EXPECT_TRUE(block.isOk()) << block.status().message();
  return block.isOk() ? std::move(*block) : Allocation();
}

char *textOf(const Allocation &block) {
  return static_cast<char *>(block.data());
}

/// Sends a descriptor over a socket.
void sendDescriptor(int socket, int descriptor) {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
  ASSERT_EQ(sendmsg(socket, &message, 0), 1);
}

int receiveDescriptor(int socket) {
  char byte;
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  int descriptor = -1;
  if (recvmsg(socket, &message, 0) == 1)
    std::memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));
  return descriptor;
}

} // namespace

TEST(Shared, AnotherProcessOpensABlock) {
  Manager manager = createSharedManager(shared);
  Allocation block = allocate(*manager, 100'000);
  std::strcpy(textOf(block), "from the parent");
  Result<SharedHandle> handle = manager->share(block);
  ASSERT_TRUE(handle.isOk());
  std::string text = toString(*handle);
  EXPECT_EQ(manager->references(block), 1u);

  int result = inChild([&] {
    // Through the handle alone, as a process without this memory would.
    Manager mine = createSharedManager(shared);
    Result<SharedHandle> read = SharedHandle::parse(text);
    Result<Allocation> opened = mine->open(*read);
    if (!opened.isOk() || opened->bytes() != 100'000 ||
        opened->data() == block.data())
      return 1;
    if (std::strcmp(textOf(*opened), "from the parent"))
      return 2;
    if (mine->references(*opened) != 2)
      return 3;
    std::strcpy(textOf(*opened) + 99'000, "from the child");
    return 0; // The block is released by its destructor.
  });
  EXPECT_EQ(result, 0);
  EXPECT_STREQ(textOf(block) + 99'000, "from the child");
  EXPECT_EQ(manager->references(block), 1u);
}

TEST(Shared, MemoryOutlivesItsMaker) {
  // As a data loader does: a worker fills a block, sends it and forgets it.
  int sockets[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
  EXPECT_EQ(inChild([&] {
              Manager mine = createSharedManager(shared);
              Allocation block = allocate(*mine, 10'000);
              std::strcpy(textOf(block), "a batch");
              sendDescriptor(sockets[1], *mine->duplicateDescriptor(block));
              return 0;
            }),
            0);
  Manager manager = createSharedManager(shared);
  int descriptor = receiveDescriptor(sockets[0]);
  Result<Allocation> block = manager->openDescriptor(descriptor);
  ASSERT_TRUE(block.isOk()) << block.status().message();
  close(descriptor);
  close(sockets[0]);
  close(sockets[1]);
  EXPECT_STREQ(textOf(*block), "a batch");
  EXPECT_EQ(manager->references(*block), 1u); // The worker's is gone.
}

TEST(Shared, AForkInheritsWithoutOwning) {
  Manager manager = createSharedManager(shared);
  Allocation block = allocate(*manager, 100);
  textOf(block)[0] = 'a';
  SharedHandle handle = *manager->share(block);
  int result = inChild([&] {
    if (manager->share(block).status().code() != StatusCode::InvalidArgument)
      return 1;
    if (manager->open(handle).status().code() != StatusCode::Unavailable ||
        manager->allocate(10).status().code() != StatusCode::Unavailable)
      return 2;
    textOf(block)[0] = 'b'; // It is the same memory.
    block.reset();
    return 0;
  });
  EXPECT_EQ(result, 0);
  EXPECT_EQ(textOf(block)[0], 'b');
  EXPECT_EQ(manager->references(block), 1u);
}

TEST(Shared, ReferencesCount) {
  Manager manager = createSharedManager(shared);
  Allocation first = allocate(*manager, 10);
  SharedHandle handle = *manager->share(first);
  Allocation second = std::move(*manager->open(handle));
  EXPECT_NE(first.data(), second.data());
  EXPECT_EQ(manager->references(first), 2u);
  textOf(first)[3] = 'x';
  EXPECT_EQ(textOf(second)[3], 'x');
  EXPECT_EQ(manager->statistics().liveBlocks, 2u);
  first.reset();
  EXPECT_EQ(manager->references(second), 1u);
  // The first block's descriptor has been closed, perhaps reused.
  Result<Allocation> late = manager->open(handle);
  EXPECT_FALSE(late.isOk());
  EXPECT_EQ(late.status().code(), StatusCode::NotFound)
      << late.status().message();
  Allocation plain =
      allocate(*createNaiveManager(Context::cpu(), createMallocSource()), 10);
  EXPECT_EQ(manager->references(plain), 0u);
  EXPECT_FALSE(manager->share(plain).isOk());
  EXPECT_FALSE(manager->duplicateDescriptor(Allocation()).isOk());
}

TEST(Shared, RefusesWhatIsNoBlock) {
  Manager manager = createSharedManager(shared);
  for (const char *text :
       {"", "shared", "shared:", "shared:1:2", "shared:1:2:3:", "shared:-1:2:3",
        "shared:0:2:3", "shared:1:-2:3", "shared:1:2:x", "shared:1:2:3 ",
        "shared:99999999999:2:3", "other:1:2:3"})
    EXPECT_EQ(SharedHandle::parse(text).status().code(),
              StatusCode::InvalidArgument)
        << text;
  // Processes and descriptors that do not exist, or are something else.
  SharedHandle handle{getpid(), 9999, 1};
  EXPECT_EQ(manager->open(handle).status().code(), StatusCode::NotFound);
  handle = {0x7fff'fff0, 0, 1};
  EXPECT_EQ(manager->open(handle).status().code(), StatusCode::NotFound);
  EXPECT_NE(manager->openDescriptor(-1).status().message().find(
                "duplicate descriptor -1"),
            std::string::npos);
  int null = open("/dev/null", O_RDWR);
  Result<Allocation> device = manager->openDescriptor(null);
  EXPECT_EQ(device.status().code(), StatusCode::InvalidArgument);
  EXPECT_NE(device.status().message().find(
                "expected a sealed memory file of DLC, got what is no memory "
                "file"),
            std::string::npos)
      << device.status().message();
  close(null);
  EXPECT_EQ(manager->statistics().liveBlocks, 0u);
  EXPECT_EQ(manager->statistics().failures, 4u);
}

TEST(Shared, LooksAtFilesOfOthers) {
  Manager manager = createSharedManager(shared);
  auto open = [&](size_t fileBytes, uint64_t magic, uint64_t blockBytes,
                  int seals) {
    int file = memfd_create("test", MFD_ALLOW_SEALING);
    uint64_t header[2] = {magic, blockBytes};
    EXPECT_EQ(pwrite(file, header, sizeof(header), 0), ssize_t(sizeof(header)));
    EXPECT_EQ(ftruncate(file, off_t(fileBytes)), 0);
    if (seals)
      fcntl(file, F_ADD_SEALS, seals);
    Result<Allocation> block = manager->openDescriptor(file);
    close(file);
    return std::move(block.status());
  };
  constexpr uint64_t magic = 0x31304d4853434c44;
  EXPECT_TRUE(open(8192, magic, 4096, F_SEAL_SHRINK).isOk());
  EXPECT_FALSE(open(8192, magic, 4096, 0).isOk()); // It could shrink later.
  EXPECT_FALSE(open(8192, magic, 4097, F_SEAL_SHRINK).isOk());
  EXPECT_FALSE(open(8192, magic, UINT64_MAX, F_SEAL_SHRINK).isOk());
  EXPECT_FALSE(open(8192, magic + 1, 4096, F_SEAL_SHRINK).isOk());
  EXPECT_FALSE(open(100, magic, 0, F_SEAL_SHRINK).isOk());
  // Ours can be written.
  for (int seal : {F_SEAL_WRITE, F_SEAL_FUTURE_WRITE}) {
    Status status = open(8192, magic, 4096, F_SEAL_SHRINK | seal);
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    EXPECT_NE(status.message().find("must not be written"), std::string::npos)
        << status.message();
  }
  EXPECT_NE(
      open(8192, magic, 4097, F_SEAL_SHRINK)
          .message()
          .find("a block of at most 4096 bytes in a memory file, got 4097"),
      std::string::npos);
  EXPECT_EQ(manager->statistics().liveBlocks, 0u);
}

TEST(Shared, TheCapCountsWhatIsMapped) {
  Manager manager = createSharedManager(shared, 100'000);
  Allocation block = allocate(*manager, 50'000);
  EXPECT_EQ(manager->allocate(50'000).status().code(), StatusCode::OutOfMemory);
  EXPECT_EQ(manager->open(*manager->share(block)).status().code(),
            StatusCode::OutOfMemory);
  EXPECT_EQ(manager->references(block), 1u);
  block.reset();
  EXPECT_TRUE(allocate(*manager, 80'000));
}
