/// Pages in memory and in a file: they come back as they went, or there is an error that says what is wrong.
#include "page/page_store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <signal.h>
#include <sys/fsuid.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "page/page_file.h"
#include "support/data.h"
#include "xgbgpu/error.h"

namespace xgbgpu {
namespace {

using testing::WhatIsWrong;
using Bytes = std::vector<std::uint8_t>;

/// Bytes of which no two pages have many in common.
Bytes SomeBytes(std::size_t size, std::uint64_t seed) {
  Bytes bytes(size);
  for (auto& byte : bytes)
    byte = static_cast<std::uint8_t>((seed = seed * 6364136223846793005U + 1442695040888963407U) >> 56);
  return bytes;
}

/// A new folder on a disk, removed with all that is in it.
class Folder {
 public:
  Folder() {
    std::string name = "/var/tmp/page-store-test-XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string const& path() const { return path_; }
  bool IsEmpty() const { return std::filesystem::is_empty(path_); }

 private:
  std::string path_;
};

/// Sets an environment variable for a while.
class Variable {
 public:
  Variable(char const* name, char const* value) : name_{name} {
    if (char const* const old = std::getenv(name)) old_ = old, had_ = true;
    value == nullptr ? unsetenv(name) : setenv(name, value, 1);
  }
  ~Variable() { had_ ? setenv(name_, old_.c_str(), 1) : unsetenv(name_); }

 private:
  char const* name_;
  std::string old_;
  bool had_{false};
};

/// Reads the page to memory whose address is `shift` above a multiple of 4096.
Bytes ReadBack(PageStore const& store, std::size_t page, std::size_t shift = 0) {
  Bytes room(store.bytes(page) + 2 * kFileBlock, 0xee);
  auto const address = reinterpret_cast<std::uintptr_t>(room.data());
  std::size_t const begin = (kFileBlock - address % kFileBlock) % kFileBlock + shift;
  store.Read(page, room.data() + begin);
  std::size_t const end = begin + store.bytes(page);
  EXPECT_EQ(room[end], 0xee) << "nothing is written behind the page";
  return {room.begin() + static_cast<std::ptrdiff_t>(begin), room.begin() + static_cast<std::ptrdiff_t>(end)};
}

std::vector<std::size_t> const kSizes{0,
                                      1,
                                      7,
                                      31,
                                      32,
                                      33,
                                      4095,
                                      4096,
                                      4097,
                                      8192,
                                      100000,
                                      (std::size_t{4} << 20) - 1,
                                      std::size_t{4} << 20,
                                      (std::size_t{9} << 20) + 5};

TEST(PageStore, PagesOfEverySizeComeBackFromMemory) {
  PageStore store{{std::size_t{1} << 30, "/no/such/folder"}};
  std::size_t sum = 0;
  for (std::size_t size : kSizes) {
    Bytes const page = SomeBytes(size, size);
    std::size_t const number = store.Add(page);
    sum += size;
    ASSERT_NE(store.InMemory(number), nullptr);
    EXPECT_EQ(Bytes(store.InMemory(number), store.InMemory(number) + size), page);
    EXPECT_EQ(ReadBack(store, number), page);
  }
  EXPECT_EQ(store.pages(), kSizes.size());
  EXPECT_EQ(store.memory_bytes(), sum);
  EXPECT_EQ(store.file_bytes(), 0U);
  EXPECT_EQ(store.descriptor(), -1) << "no folder is needed";
}

TEST(PageStore, PagesOfEverySizeComeBackFromTheFile) {
  Folder const folder;
  PageStore store{{0, folder.path()}};
  std::size_t blocks = 0;
  for (std::size_t size : kSizes) {
    std::size_t const number = store.Add(SomeBytes(size, size));
    EXPECT_EQ(store.bytes(number), size);
    blocks += (size + kFileBlock - 1) / kFileBlock;
    EXPECT_EQ(store.InMemory(number) == nullptr, size != 0) << "0 bytes fit in 0 bytes";
  }
  EXPECT_EQ(store.memory_bytes(), 0U);
  EXPECT_EQ(store.file_bytes(), blocks * kFileBlock);
  for (std::size_t shift : {0, 1, 64}) {
    for (std::size_t i = 0; i < kSizes.size(); ++i)
      EXPECT_EQ(ReadBack(store, i, shift), SomeBytes(kSizes[i], kSizes[i]));
  }
}

TEST(PageStore, PagesGoToTheFileWhenMemoryIsFull) {
  Folder const folder;
  PageStore store{{10000, folder.path()}};
  for (std::size_t i = 0; i < 5; ++i) store.Add(SomeBytes(4000, i));
  store.Add(SomeBytes(2000, 5));  // fits beside two of the others
  std::vector<bool> in_memory;
  for (std::size_t i = 0; i < store.pages(); ++i) {
    in_memory.push_back(store.InMemory(i) != nullptr);
    EXPECT_EQ(ReadBack(store, i), SomeBytes(i == 5 ? 2000 : 4000, i));
  }
  EXPECT_EQ(in_memory, (std::vector<bool>{true, true, false, false, false, true}));
  EXPECT_EQ(store.memory_bytes(), 10000U);
  EXPECT_EQ(store.file_bytes(), 3 * kFileBlock);
}

/// Has memory for two pages, whatever the limit.
class TwoPages : public PageMemory {
 public:
  void* Allocate(std::size_t bytes) override {
    if (used_.size() == 2) return nullptr;
    void* const memory = std::malloc(bytes);
    used_.insert(memory);
    return memory;
  }
  void Free(void* memory) noexcept override {
    freed_ += used_.count(memory);
    std::free(memory);
  }
  std::size_t freed() const { return freed_; }

 private:
  std::set<void*> used_;
  std::size_t freed_{0};
};

TEST(PageStore, PagesGoToTheFileWhenTheAllocatorHasNoMore) {
  Folder const folder;
  auto const memory = std::make_shared<TwoPages>();
  {
    PageStore store{{1000000, folder.path(), memory}};
    for (std::size_t i = 0; i < 3; ++i) store.Add(SomeBytes(5000, i));
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(ReadBack(store, i), SomeBytes(5000, i));
    EXPECT_EQ(store.memory_bytes(), 10000U);
    EXPECT_EQ(store.InMemory(2), nullptr);
  }
  EXPECT_EQ(memory->freed(), 2U);
}

TEST(PageStore, ThreadsReadAtATime) {
  Folder const folder;
  PageStore store{{100000, folder.path()}};
  for (std::size_t i = 0; i < 16; ++i) store.Add(SomeBytes(20000 + i, i));
  std::vector<int> wrong(4, 0);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < 64; ++i) {
        std::size_t const page = (i * (2 * t + 1) + t) % 16;
        Bytes to(store.bytes(page));
        store.Read(page, to.data());
        wrong[t] += to != SomeBytes(20000 + page, page);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST(PageStore, TwoStoresShareAFolder) {
  Folder const folder;
  PageStore one{{0, folder.path()}}, two{{0, folder.path()}};
  for (std::size_t i = 0; i < 3; ++i) one.Add(SomeBytes(5000, i)), two.Add(SomeBytes(5000, 10 + i));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(ReadBack(one, i), SomeBytes(5000, i));
    EXPECT_EQ(ReadBack(two, i), SomeBytes(5000, 10 + i));
  }
}

TEST(PageStore, TheFileHasNoName) {
  Folder const folder;
  {
    PageStore store{{0, folder.path()}};
    store.Add(SomeBytes(100000, 1));
    ASSERT_GE(store.descriptor(), 0);
    struct stat status {};
    ASSERT_EQ(fstat(store.descriptor(), &status), 0);
    EXPECT_EQ(status.st_nlink, 0U);
    EXPECT_EQ(status.st_mode & 0777U, 0600U) << "of other users nobody reads it";
    EXPECT_TRUE(folder.IsEmpty());
  }
  EXPECT_TRUE(folder.IsEmpty());
}

TEST(PageStore, NothingIsLeftOfAKilledProcess) {
  Folder const folder;
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  pid_t const child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    PageStore store{{0, folder.path()}};
    store.Add(SomeBytes(100000, 1));
    char const done = store.file_bytes() == 25 * kFileBlock ? 'y' : 'n';
    if (write(ready[1], &done, 1) == 1) pause();
    _exit(1);
  }
  close(ready[1]);
  char done = 0;
  EXPECT_EQ(read(ready[0], &done, 1), 1);
  EXPECT_EQ(done, 'y');
  close(ready[0]);
  kill(child, SIGKILL);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(folder.IsEmpty());
}

TEST(PageStore, ThePageIsCutShort) {
  Folder const folder;
  PageStore store{{0, folder.path()}};
  for (std::size_t i = 0; i < 3; ++i) store.Add(SomeBytes(10000, i));
  ASSERT_EQ(ftruncate(store.descriptor(), 2 * 12288 + 4096), 0);
  Bytes to(10000);
  EXPECT_EQ(WhatIsWrong<Error>([&] { store.Read(2, to.data()); },
                               {"page 2 of 10000 bytes", "offset 24576", "the file ends at offset 28672", folder.path(),
                                "gpu_cache_folder"}),
            "");
  EXPECT_EQ(ReadBack(store, 1), SomeBytes(10000, 1)) << "the other pages are there";
}

TEST(PageStore, TheFileEndsInABlock) {
  Folder const folder;
  PageStore store{{0, folder.path()}};
  store.Add(SomeBytes(10000, 0));
  ASSERT_EQ(ftruncate(store.descriptor(), 5000), 0);
  EXPECT_THROW(ReadBack(store, 0), Error);
  EXPECT_THROW(ReadBack(store, 0, 1), Error);
}

TEST(PageStore, ABitIsFlipped) {
  Folder const folder;
  PageStore store{{0, folder.path()}};
  for (std::size_t i = 0; i < 3; ++i) store.Add(SomeBytes(10000, i));
  for (std::size_t at : {0, 4097, 9999}) {
    std::uint64_t const block = 12288 + at / kFileBlock * kFileBlock;
    std::unique_ptr<std::uint8_t, decltype(&std::free)> const bytes{
        static_cast<std::uint8_t*>(AllocateAligned(kFileBlock)), &std::free};
    auto const flip = [&] {
      ASSERT_EQ(pread(store.descriptor(), bytes.get(), kFileBlock, static_cast<off_t>(block)), 4096);
      bytes.get()[at % kFileBlock] ^= 0x10;
      ASSERT_EQ(pwrite(store.descriptor(), bytes.get(), kFileBlock, static_cast<off_t>(block)), 4096);
    };
    flip();
    EXPECT_EQ(WhatIsWrong<Error>([&] { ReadBack(store, 1); },
                                 {"Page 1 of 10000 bytes at offset 12288", "is not what was written", folder.path()}),
              "");
    EXPECT_EQ(ReadBack(store, 0), SomeBytes(10000, 0));
    EXPECT_EQ(ReadBack(store, 2), SomeBytes(10000, 2));
    flip();
    EXPECT_EQ(ReadBack(store, 1), SomeBytes(10000, 1));
  }
}

TEST(PageStore, TheDiskIsFull) {
  int const full = open("/dev/full", O_RDWR | O_CLOEXEC);
  if (full < 0) GTEST_SKIP() << "this machine has no /dev/full";
  Folder const folder;
  PageStore store{{4096, folder.path()}};
  store.Add(SomeBytes(5000, 0));
  int const file = dup(store.descriptor());
  ASSERT_EQ(dup2(full, store.descriptor()), store.descriptor());
  EXPECT_EQ(WhatIsWrong<Error>([&] { store.Add(SomeBytes(10000, 1)); },
                               {"gpu_cache_folder is '" + folder.path() + "'",
                                "page 1 needs 12288 bytes beside the 8192", "bytes are free", "gpu_host_memory_limit"}),
            "");
  EXPECT_EQ(store.pages(), 1U);
  ASSERT_EQ(dup2(file, store.descriptor()), store.descriptor());
  EXPECT_EQ(store.Add(SomeBytes(10000, 2)), 1U) << "there is room again";
  EXPECT_EQ(ReadBack(store, 0), SomeBytes(5000, 0));
  EXPECT_EQ(ReadBack(store, 1), SomeBytes(10000, 2));
  close(file);
  close(full);
}

TEST(PageStore, MemoryIsAdvisedOnlyWherePagesMayLieThere) {
  int const full = open("/dev/full", O_RDWR | O_CLOEXEC);
  if (full < 0) GTEST_SKIP() << "this machine has no /dev/full";
  Folder const folder;
  for (std::size_t const memory : {0, 4096}) {
    PageStore store{{memory, folder.path()}};
    store.Add(SomeBytes(5000, 0));
    ASSERT_EQ(dup2(full, store.descriptor()), store.descriptor());
    std::string text;
    try {
      store.Add(SomeBytes(5000, 1));
    } catch (Error const& error) {
      text = error.what();
    }
    EXPECT_NE(text.find("gpu_cache_folder on a disk with more room"), std::string::npos) << text;
    EXPECT_EQ(text.find("gpu_host_memory_limit") != std::string::npos, memory != 0) << text;
  }
  close(full);
}

TEST(PageStore, FilesMayNotBeAsLarge) {
  Folder const folder;
  PageStore store{{0, folder.path()}};
  store.Add(SomeBytes(5000, 0));
  struct rlimit old {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  struct rlimit const small{16384, old.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  std::string const wrong = WhatIsWrong<Error>([&] { store.Add(SomeBytes(10000, 1)); },
                                               {"page 1 of 12288 bytes", "offset 8192", "ulimit -f", folder.path()});
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
  EXPECT_EQ(wrong, "");
  EXPECT_EQ(ReadBack(store, 0), SomeBytes(5000, 0));
}

/// Returns an empty text if a page is refused for its folder with a text that contains all of `parts`.
std::string WhatIsWrongWith(std::string const& folder, std::vector<std::string> const& parts) {
  return WhatIsWrong<InvalidArgument>([&] { PageStore{{0, folder}}.Add(SomeBytes(10, 0)); }, parts);
}

TEST(PageStore, TheFolderDoesNotExist) {
  EXPECT_EQ(WhatIsWrongWith("/no/such/folder",
                            {"Parameter gpu_cache_folder is '/no/such/folder': No such file or directory", "allowed"}),
            "");
}

TEST(PageStore, TheFolderIsAFile) {
  Folder const folder;
  std::string const file = folder.path() + "/file";
  std::ofstream{file} << "text";
  EXPECT_EQ(WhatIsWrongWith(file, {"gpu_cache_folder is '" + file + "': it is not a folder"}), "");
}

TEST(PageStore, TheFolderCannotBeWrittenTo) {
  Folder const folder;
  ASSERT_EQ(chmod(folder.path().c_str(), 0555), 0);
  constexpr uid_t kNobody = 65534;
  uid_t const user = geteuid();
  if (user == 0) setfsuid(kNobody);  // root may write anywhere
  std::string const wrong = WhatIsWrongWith(
      folder.path(),
      {"gpu_cache_folder is '" + folder.path() + "': Permission denied", "in which this process can write"});
  if (user == 0) setfsuid(user);
  EXPECT_EQ(wrong, "");
}

TEST(PageStore, TheFolderLiesInMemory) {
  struct statfs system {};
  if (statfs("/dev/shm", &system) != 0 || system.f_type != TMPFS_MAGIC) GTEST_SKIP() << "/dev/shm is no tmpfs here";
  EXPECT_EQ(WhatIsWrongWith("/dev/shm", {"gpu_cache_folder is '/dev/shm'", "tmpfs", "a folder on a disk"}), "");
}

TEST(PageStore, WithoutAFolderPagesGoToTmpdir) {
  Variable const variable{"TMPDIR", "/no/such/tmpdir"};
  EXPECT_EQ(WhatIsWrongWith("", {"Without gpu_cache_folder", "TMPDIR", "'/no/such/tmpdir': No such file or directory"}),
            "");
}

TEST(PageStore, WithoutTmpdirPagesGoToVarTmp) {
  for (char const* none : {static_cast<char const*>(nullptr), ""}) {
    Variable const variable{"TMPDIR", none};
    EXPECT_EQ((PageFile{"", ""}.folder()), "/var/tmp");
  }
}

}  // namespace
}  // namespace xgbgpu
