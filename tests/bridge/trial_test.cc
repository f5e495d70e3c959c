// Tests what becomes of a child process that ends well, badly, or never.
#include "bridge/trial.h"

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "bridge/cache_folder.h"
#include "fakes.h"

namespace xgbgpu::bridge {
namespace {

/// A program in a folder of its own; $1 and $2 are the arguments of a trial.
class Program {
 public:
  explicit Program(std::string const& text)
      : path_{std::filesystem::temp_directory_path() / ("xgbgpu-trial-" + std::to_string(getpid()))} {
    std::ofstream{path_} << "#!/bin/sh\n" << text << '\n';
    chmod(path_.c_str(), 0700);
  }
  ~Program() { std::filesystem::remove(path_); }
  Program(Program const&) = delete;
  Program& operator=(Program const&) = delete;
  Verdict Run(int seconds = 60) const { return RunProgram(path_, "lib xgboost", "folder", seconds); }
  std::string path() const { return path_; }

 private:
  std::filesystem::path path_;
};

TEST(RunProgram, AGoodEndIsAGoodVerdict) {
  EXPECT_TRUE(Program{"test \"$1\" = 'lib xgboost' && test $2 = folder && test $# = 2"}.Run().is_good);
}

TEST(RunProgram, ABadEndTellsWhatItWrote) {
  Verdict const said = Program{"echo noise >&2; printf 'it is %s' bad; exit 1"}.Run();
  EXPECT_FALSE(said.is_good);
  EXPECT_TRUE(said.is_lasting);
  EXPECT_EQ(said.reason, "it is bad");
  EXPECT_EQ(Program{"exit 3"}.Run().reason, "exit status 3");
  EXPECT_EQ(Program{"head -c 1000000 /dev/zero | tr '\\0' y; exit 1"}.Run().reason.substr(0, 4), "yyyy");
}

TEST(RunProgram, ACrashIsABadVerdictThatLasts) {
  Verdict const crashed = Program{"kill -SEGV $$"}.Run();
  EXPECT_FALSE(crashed.is_good);
  EXPECT_TRUE(crashed.is_lasting);
  EXPECT_EQ(crashed.reason, "it crashed with signal 11");
  EXPECT_FALSE(Program{"kill -KILL $$"}.Run().is_lasting) << "the system kills where memory is short";
}

TEST(RunProgram, AProgramThatHangsIsEnded) {
  auto const begin = std::chrono::steady_clock::now();
  Verdict const late = Program{"exec sleep 600"}.Run(1);
  EXPECT_EQ(late.reason, "it took longer than 1 s");
  EXPECT_FALSE(late.is_good || late.is_lasting);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds{60});
}

TEST(RunProgram, AProgramThatIsNotThereIsNamed) {
  Verdict const none = RunProgram("/nowhere/xgbgpu-probe", "a", "b", 60);
  EXPECT_EQ(none.reason, "'/nowhere/xgbgpu-probe' cannot be run: No such file or directory");
  EXPECT_FALSE(none.is_good || none.is_lasting);
}

TEST(RunProgram, AProcessWithoutStatusOfItsChildrenIsTold) {
  auto* const before = std::signal(SIGCHLD, SIG_IGN);
  Verdict const lost = Program{"exit 0"}.Run();
  std::signal(SIGCHLD, before);
  EXPECT_FALSE(lost.is_good || lost.is_lasting);
  EXPECT_EQ(lost.reason, "the child's exit status is lost: No child processes");
}

class CacheFolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(home_);
    setenv("HOME", home_.c_str(), 1);
    unsetenv("XDG_CACHE_HOME");
  }
  void TearDown() override { std::filesystem::remove_all(home_); }

  std::string home_{std::filesystem::temp_directory_path() / ("xgbgpu-home-" + std::to_string(getpid()))};
};

TEST_F(CacheFolderTest, IsTheUsers) {
  EXPECT_EQ(CacheFolder(), home_ + "/.cache/xgboost-gpu");
  EXPECT_TRUE(std::filesystem::is_directory(CacheFolder()));
  setenv("XDG_CACHE_HOME", (home_ + "/other").c_str(), 1);
  EXPECT_EQ(CacheFolder(), home_ + "/other/xgboost-gpu");
  setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(CacheFolder(), home_ + "/.cache/xgboost-gpu");
}

TEST_F(CacheFolderTest, IsNoneIfOthersMayWriteOrNothingIsThere) {
  std::string const folder = CacheFolder();
  chmod(folder.c_str(), 0777);
  EXPECT_EQ(CacheFolder(), "");
  std::filesystem::remove(folder);
  std::filesystem::create_directory_symlink("/tmp", folder);
  EXPECT_EQ(CacheFolder(), "");
  setenv("HOME", "/nowhere", 1);
  EXPECT_EQ(CacheFolder(), "");
  unsetenv("HOME");
  EXPECT_EQ(CacheFolder(), "");
}

}  // namespace
}  // namespace xgbgpu::bridge
