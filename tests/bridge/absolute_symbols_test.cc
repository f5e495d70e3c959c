// Tests tables of addresses, as the dynamic linker reads them, and the ways to load bytes.
#include "bridge/absolute_symbols.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "bridge/load_bytes.h"
#include "fakes.h"

namespace xgbgpu::bridge {
namespace {

/// Many names, so that chains of the hash table are longer than one.
std::map<std::string, std::uint64_t> ManyAddresses() {
  std::map<std::string, std::uint64_t> addresses{{"_ZN7xgboost9first_oneEv", 0x1234567890abcdef}, {"low", 1}};
  for (std::uint64_t i = 0; i < 500; ++i) addresses["_ZN7xgboost4name" + std::to_string(i)] = 0x7f0000000000 + 3 * i;
  return addresses;
}

/// Lines of /proc/self/maps that mention a name.
std::string MapsOf(std::string const& name) {
  std::ifstream maps{"/proc/self/maps"};
  std::string found;
  for (std::string line; std::getline(maps, line);) {
    if (line.find(name) != std::string::npos) found += line + '\n';
  }
  return found;
}

/// From now on the process has no memory files.
void ForbidMemoryFiles() {
  sock_filter rules[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                         BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
                         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  sock_fprog const program{4, rules};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    _exit(99);
}

class Folder {
 public:
  Folder() : path_{std::filesystem::temp_directory_path() / ("xgbgpu-bridge-" + std::to_string(getpid()))} {
    std::filesystem::create_directory(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(Folder const&) = delete;
  Folder& operator=(Folder const&) = delete;
  std::string path() const { return path_; }
  bool is_empty() const { return std::filesystem::is_empty(path_); }

 private:
  std::filesystem::path path_;
};

std::string NoFolder() { return {}; }

TEST(AbsoluteSymbols, TheDynamicLinkerFindsEveryAddress) {
  auto const addresses = ManyAddresses();
  DlHandle const table = LoadBytes(AbsoluteSymbols("libtable.so", addresses), "libtable.so", NoFolder);
  for (auto const& [name, address] : addresses) {
    EXPECT_EQ(reinterpret_cast<std::uint64_t>(dlsym(table.get(), name.c_str())), address) << name;
  }
  EXPECT_EQ(dlsym(table.get(), "_ZN7xgboost4name500"), nullptr);
  EXPECT_EQ(dlsym(RTLD_DEFAULT, "_ZN7xgboost9first_oneEv"), nullptr) << "the table is for all";
}

TEST(AbsoluteSymbols, ItIsKnownByItsNameAndHasNoCode) {
  DlHandle const table = LoadBytes(AbsoluteSymbols("libtable.so", {{"a", 5}}), "libtable.so", NoFolder);
  DlHandle const again{dlopen("libtable.so", RTLD_NOW | RTLD_NOLOAD)};
  EXPECT_EQ(again, table);
  std::string const maps = MapsOf("memfd:libtable.so");
  EXPECT_NE(maps, "");
  EXPECT_EQ(maps.find("xp "), std::string::npos) << maps;
}

TEST(AbsoluteSymbols, StacksStayWithoutCode) {
  DlHandle const table = LoadBytes(AbsoluteSymbols("libtable.so", {{"a", 5}}), "libtable.so", NoFolder);
  EXPECT_NE(MapsOf("[stack]"), "");
  EXPECT_EQ(MapsOf("[stack]").find("xp "), std::string::npos);
}

TEST(AbsoluteSymbols, AnEmptyTableCanBeLoaded) {
  DlHandle const table = LoadBytes(AbsoluteSymbols("libtable.so", {}), "libtable.so", NoFolder);
  EXPECT_EQ(dlsym(table.get(), "a"), nullptr);
}

TEST(LoadBytes, AFileOfTheUserTakesThePlaceOfAMemoryFile) {
  Folder const folder;
  auto const child = [&] {
    ForbidMemoryFiles();
    DlHandle const table =
        LoadBytes(AbsoluteSymbols("libtable.so", {{"a", 5}}), "libtable.so", [&] { return folder.path(); });
    bool const is_right = reinterpret_cast<std::uint64_t>(dlsym(table.get(), "a")) == 5;
    _exit(is_right && MapsOf("memfd:libtable.so").empty() && folder.is_empty() ? 0 : 1);
  };
  EXPECT_EXIT(child(), ::testing::ExitedWithCode(0), "");
}

TEST(LoadBytes, WithoutAnyPlaceItSaysWhy) {
  auto const child = [] {
    ForbidMemoryFiles();
    std::string const why = ErrorOf([] { LoadBytes("", "libtable.so", [] { return "/nowhere"; }); });
    std::fprintf(stderr, "%s", why.c_str());
    _exit(0);
  };
  EXPECT_EXIT(child(), ::testing::ExitedWithCode(0),
              "Operation not permitted.*/nowhere/libtable.so.*No such file.*allowed:");
}

TEST(LoadBytes, BytesThatAreNoLibraryAreRefused) {
  EXPECT_NE(ErrorOf([] { LoadBytes("nothing", "libtable.so", NoFolder); }).find("allowed: memory files"),
            std::string::npos);
}

}  // namespace
}  // namespace xgbgpu::bridge
