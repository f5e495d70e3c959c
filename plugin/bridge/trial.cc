// Runs xgbgpu-probe, and keeps its verdicts.
#include "bridge/trial.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "base/hash.h"
#include "base/quoted.h"
#include "bridge/cache_folder.h"
#include "bridge/error.h"

extern char** environ;

namespace xgbgpu::bridge {
namespace {

constexpr int kSeconds = 120;  // a trial takes less than one on an idle machine

/// The path of the library that has this function.
std::string OwnPath() {
  Dl_info where{};
  dladdr(reinterpret_cast<void const*>(&RunProgram), &where);
  return where.dli_fname == nullptr ? "" : where.dli_fname;
}

std::string FolderOf(std::string const& path) {
  std::size_t const slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

/// Path, size and time of a file: another file has others.
std::string Identity(std::string const& path) {
  struct stat status {};
  stat(path.c_str(), &status);
  return path + ' ' + std::to_string(status.st_size) + ' ' + std::to_string(status.st_mtim.tv_sec) + '.' +
         std::to_string(status.st_mtim.tv_nsec) + '\n';
}

/// Reads what the child writes until it ends; false if that takes too long.
bool ReadUntilEnd(int from, int seconds, std::string* text) {
  auto const end = std::chrono::steady_clock::now() + std::chrono::seconds{seconds};
  for (;;) {
    auto const left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd waiting{from, POLLIN, 0};
    if (poll(&waiting, 1, static_cast<int>(left.count())) <= 0) continue;
    char bytes[4096];
    ssize_t const n = read(from, bytes, sizeof(bytes));
    if (n == 0 || (n < 0 && errno != EINTR)) return true;
    if (n > 0 && text->size() < 8192) text->append(bytes, static_cast<std::size_t>(n));
  }
}

Verdict VerdictOf(int status, std::string const& written) {
  if (WIFSIGNALED(status)) {
    int const signal = WTERMSIG(status);  // SIGKILL may be the system's, short of memory
    return {false, signal != SIGKILL, "it crashed with signal " + std::to_string(signal)};
  }
  if (WEXITSTATUS(status) == 0) return {true, true, ""};
  return {false, true, written.empty() ? "exit status " + std::to_string(WEXITSTATUS(status)) : written};
}

/// The verdict on this key that an earlier process has kept; false if there is none.
bool ReadVerdict(std::string const& path, std::string const& key, Verdict* verdict) {
  std::ifstream file{path, std::ios::binary};
  std::string const text{std::istreambuf_iterator<char>{file}, {}};
  if (text.compare(0, key.size(), key) != 0 || text.size() <= key.size()) return false;
  bool const is_good = text[key.size()] == '+';
  *verdict = {is_good, true, text.substr(key.size() + 1)};
  return true;
}

void KeepVerdict(std::string const& path, std::string const& key, Verdict const& verdict) {
  std::string const made = path + '.' + std::to_string(getpid());
  std::ofstream file{made, std::ios::binary};
  file << key << (verdict.is_good ? '+' : '-') << verdict.reason;
  file.close();
  if (!file || std::rename(made.c_str(), path.c_str()) != 0) unlink(made.c_str());  // the next process tries again
}

}  // namespace

Verdict RunProgram(std::string const& program, std::string const& xgboost, std::string const& folder, int seconds) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {false, false, std::string{"no pipe: "} + std::strerror(errno)};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::string words[] = {program, xgboost, folder};
  char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  pid_t child = 0;
  int const failure = posix_spawn(&child, program.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string written;
  bool const has_ended = failure == 0 && ReadUntilEnd(ends[0], seconds, &written);
  close(ends[0]);
  if (failure != 0) return {false, false, QuotedName(program) + " cannot be run: " + std::strerror(failure)};
  if (!has_ended) kill(child, SIGKILL);
  int status = 0;
  pid_t ended = 0;
  do {
    ended = waitpid(child, &status, 0);
  } while (ended < 0 && errno == EINTR);
  if (!has_ended) return {false, false, "it took longer than " + std::to_string(seconds) + " s"};
  // A program that ignores SIGCHLD has no status of its children.
  if (ended != child) return {false, false, std::string{"the child's exit status is lost: "} + std::strerror(errno)};
  return VerdictOf(status, written);
}

void TryInChild(XGBoostImage const& image, std::string const& folder, std::string const& adapter) {
  std::string const own = OwnPath();
  std::string const key = XGBGPU_VERSION "\n" + Identity(image.path) + Identity(adapter) + Identity(own);
  std::string const cache = CacheFolder();
  std::string const kept = cache + "/trial-" + std::to_string(HashText(key));
  Verdict verdict{};
  if (cache.empty() || !ReadVerdict(kept, key, &verdict)) {
    verdict = RunProgram(FolderOf(own) + "/xgbgpu-probe", image.path, folder, kSeconds);
    if (!cache.empty() && verdict.is_lasting) KeepVerdict(kept, key, verdict);
  }
  if (verdict.is_good) return;
  throw BridgeError{image.Described() + " is no release that was tested, and a trial in a child process failed: " +
                    EscapedMessage(verdict.reason) +
                    (verdict.is_lasting && !cache.empty() ? " (kept in " + QuotedName(kept) + ")" : "") +
                    "; allowed: a release of series " + image.Series() + " that passes, or one that was tested"};
}

}  // namespace xgbgpu::bridge
