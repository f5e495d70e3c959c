/// What the machine and its control groups allow, on trees of files like /proc and /sys.
#include "page/memory_policy.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace xgbgpu {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
constexpr char kNoLimitOfVersion1[] = "9223372036854771712\n";

struct File {
  std::string name, text;
};

/// What is allowed where these files are. The machine has 64 GiB.
std::uint64_t AllowedWith(std::vector<File> files) {
  std::string root = std::filesystem::temp_directory_path() / "memory-policy-test-XXXXXX";
  EXPECT_NE(mkdtemp(root.data()), nullptr);
  files.push_back({"proc/meminfo", "MemFree:  1024 kB\nMemTotal:       67108864 kB\nSwapTotal: 5 kB\n"});
  for (auto const& [name, text] : files) {
    std::filesystem::path const path = root + '/' + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream{path} << text;
  }
  std::uint64_t const allowed = AllowedMemory(root + '/');
  std::filesystem::remove_all(root);
  return allowed;
}

TEST(MemoryPolicy, WithoutGroupsItIsTheMachine) {
  EXPECT_EQ(AllowedWith({}), 64 * kGiB);
  EXPECT_EQ(AllowedWith({{"proc/self/cgroup", "0::/\n"}}), 64 * kGiB);
  EXPECT_EQ(AllowedWith({{"proc/self/cgroup", "nonsense\n::\n7:memory\n"}}), 64 * kGiB);
}

TEST(MemoryPolicy, TheSmallestGroupOnTheWayCounts) {
  std::vector<File> const files{{"proc/self/cgroup", "0::/a.slice/b/c\n"},
                                {"sys/fs/cgroup/a.slice/memory.max", "8589934592\n"},
                                {"sys/fs/cgroup/a.slice/b/memory.max", "4294967296\n"},
                                {"sys/fs/cgroup/a.slice/b/c/memory.max", "max\n"},
                                {"sys/fs/cgroup/a.slice/other/memory.max", "1024\n"}};
  EXPECT_EQ(AllowedWith(files), 4 * kGiB);
  EXPECT_EQ(AllowedWith({files[0], files[1], files[3]}), 8 * kGiB);
  EXPECT_EQ(AllowedWith({files[0], files[3]}), 64 * kGiB);
}

TEST(MemoryPolicy, AContainerSeesItsGroupAtTheTop) {
  EXPECT_EQ(AllowedWith({{"proc/self/cgroup", "0::/\n"}, {"sys/fs/cgroup/memory.max", "2147483648\n"}}), 2 * kGiB);
  EXPECT_EQ(AllowedWith({{"proc/self/cgroup", "0::/of/the/machine\n"}, {"sys/fs/cgroup/memory.max", "2147483648\n"}}),
            2 * kGiB);
}

TEST(MemoryPolicy, GroupsOfVersion1) {
  File const cgroup{"proc/self/cgroup", "12:cpu,cpuacct:/x\n9:hugetlb,memory:/docker/1f\n1:name=systemd:/docker/1f\n"};
  File const own{"sys/fs/cgroup/memory/docker/1f/memory.limit_in_bytes", "3221225472\n"};
  File const root{"sys/fs/cgroup/memory/memory.limit_in_bytes", kNoLimitOfVersion1};
  EXPECT_EQ(AllowedWith({cgroup, own, root}), 3 * kGiB);
  EXPECT_EQ(AllowedWith({cgroup, root}), 64 * kGiB);
  EXPECT_EQ(AllowedWith({{"proc/self/cgroup", "3:memory_of_others:/\n"}, {root.name, "1024\n"}}), 64 * kGiB);
}

TEST(MemoryPolicy, ALimitBeyondTheMachineIsNone) {
  EXPECT_EQ(AllowedWith({{"proc/self/cgroup", "0::/"}, {"sys/fs/cgroup/memory.max", "1099511627776"}}), 64 * kGiB);
}

TEST(MemoryPolicy, NothingIsKnown) { EXPECT_EQ(AllowedMemory("/no/such/folder/"), 0U); }

TEST(MemoryPolicy, ShardsShareTheMemoryForPages) {
  MemoryLimits limits;
  limits.host_bytes = 100;
  EXPECT_EQ(HostPageBytes(ShareOfHost(limits, 1)), 100U);
  EXPECT_EQ(HostPageBytes(ShareOfHost(limits, 3)), 33U);
  EXPECT_EQ(HostPageBytes(ShareOfHost(ShareOfHost(limits, 3), 2)), 16U);
  EXPECT_EQ(HostPageBytes(ShareOfHost(limits, 200)), 1U) << "0 would be no limit";
  EXPECT_EQ(HostPageBytes(ShareOfHost({}, 4)), AllowedMemory() / 2 / 4);
}

TEST(MemoryPolicy, PagesTakeHalfUnlessTheUserSaysOtherwise) {
  EXPECT_GT(AllowedMemory(), 0U) << "of this machine";
  EXPECT_EQ(HostPageBytes({}), AllowedMemory() / 2);
  EXPECT_EQ(HostPageBytes({0, 12345, {}}), 12345U);
}

}  // namespace
}  // namespace xgbgpu
