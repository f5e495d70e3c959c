// Finds the memory limit of this process in proc/ and sys/.
#include "page/memory_policy.h"

#include <algorithm>
#include <fstream>
#include <limits>

namespace xgbgpu {

namespace {

constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();

/// Returns the bytes of the machine.
std::uint64_t MachineMemory(std::string const& root) {
  std::ifstream file{root + "proc/meminfo"};
  for (std::string name; file >> name;) {
    std::uint64_t kibibytes = 0;
    if (name == "MemTotal:" && file >> kibibytes) return kibibytes * 1024;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return kUnknown;
}

/// Returns the least limit in the files `name` of a group and of its parent groups. `path` is the group's path below
/// `groups`. In a container the path may be the machine's, and only the parent folders at its end exist. A file without
/// a limit has a word ("max"), or a number beyond all memory.
std::uint64_t LeastLimit(std::string const& groups, std::string path, std::string const& name) {
  std::uint64_t least = kUnknown;
  for (;;) {
    while (!path.empty() && path.back() == '/') path.pop_back();
    std::ifstream file{std::string{groups}.append(path).append(name)};
    std::uint64_t limit = 0;
    if (file >> limit) least = std::min(least, limit);
    if (path.empty()) return least;
    path.erase(path.find_last_of('/') == std::string::npos ? 0 : path.find_last_of('/'));
  }
}

}  // namespace

std::uint64_t AllowedMemory(std::string const& root) {
  std::uint64_t least = MachineMemory(root);
  std::ifstream groups{root + "proc/self/cgroup"};
  for (std::string line; std::getline(groups, line);) {  // number:controllers:path
    std::size_t const first = line.find(':');
    std::size_t const second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    std::string const controllers = ',' + line.substr(first + 1, second - first - 1) + ',';
    std::string const path = line.substr(second + 1);
    if (controllers == ",,") {  // version 2
      least = std::min(least, LeastLimit(root + "sys/fs/cgroup", path, "/memory.max"));
    } else if (controllers.find(",memory,") != std::string::npos) {
      least = std::min(least, LeastLimit(root + "sys/fs/cgroup/memory", path, "/memory.limit_in_bytes"));
    }
  }
  return least == kUnknown ? 0 : least;
}

}  // namespace xgbgpu
