// Finds the sockets of XGBoost's communicator, and cuts them when a call waits too long.
#include "group/link_watch.h"

#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <thread>
#include <utility>

namespace xgbgpu::plugin {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kBetweenLooks{250};
/// XGBoost's own limit comes first where it works, because its error says more.
constexpr std::chrono::seconds kGrace{1};

/// A socket. The number tells whether the descriptor now belongs to another socket.
struct Socket {
  int descriptor;
  ino_t number;
};

std::vector<Socket> Sockets() {
  std::vector<Socket> found;
  std::unique_ptr<DIR, int (*)(DIR*)> const folder{opendir("/proc/self/fd"), closedir};
  if (folder == nullptr) return found;
  while (dirent const* entry = readdir(folder.get())) {
    int const descriptor = std::atoi(entry->d_name);
    struct stat status;
    if (entry->d_name[0] == '.' || fstat(descriptor, &status) != 0 || !S_ISSOCK(status.st_mode)) continue;
    found.push_back({descriptor, status.st_ino});
  }
  return found;
}

/// Returns an option of a socket, or -1.
int Option(int descriptor, int level, int name) {
  int value = -1;
  socklen_t size = sizeof(value);
  return getsockopt(descriptor, level, name, &value, &size) == 0 ? value : -1;
}

/// Returns the system's default of TCP_KEEPIDLE, in seconds; -1 if it cannot be read.
int UsualKeepAlive() {
  int const descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -1;
  int const seconds = Option(descriptor, IPPROTO_TCP, TCP_KEEPIDLE);
  close(descriptor);
  return seconds;
}

bool IsConnectionOfXgboost(int descriptor, int usual_keep_alive) {
  sockaddr_storage address;
  socklen_t size = sizeof(address);
  return getpeername(descriptor, reinterpret_cast<sockaddr*>(&address), &size) == 0 &&
         (address.ss_family == AF_INET || address.ss_family == AF_INET6) &&
         (fcntl(descriptor, F_GETFL) & O_NONBLOCK) != 0 && Option(descriptor, SOL_SOCKET, SO_KEEPALIVE) == 1 &&
         Option(descriptor, IPPROTO_TCP, TCP_KEEPIDLE) == usual_keep_alive;
}

/// Returns the time since a connection last received anything. Unlimited if the connection is closed.
std::chrono::milliseconds Silence(Socket const& link) {
  struct stat status;
  tcp_info info{};
  socklen_t size = sizeof(info);
  if (fstat(link.descriptor, &status) != 0 || status.st_ino != link.number ||
      getsockopt(link.descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) {
    return std::chrono::milliseconds::max();
  }
  return std::chrono::milliseconds{info.tcpi_last_data_recv};
}

std::int64_t Now() { return Clock::now().time_since_epoch().count(); }

}  // namespace

/// Without a lock: a process may be forked while the thread holds one.
struct LinkWatch::State {
  std::vector<Socket> links;
  std::chrono::milliseconds limit;
  std::atomic<std::int64_t> waits_since{0};  ///< in ticks of the clock; 0: no call waits
  std::atomic<bool> has_ended{false};
};

std::optional<std::vector<ino_t>> OpenSockets() noexcept {
  try {
    std::vector<ino_t> numbers;
    for (Socket const& socket : Sockets()) numbers.push_back(socket.number);
    return numbers;
  } catch (std::bad_alloc const&) {
    return std::nullopt;
  }
}

LinkWatch::LinkWatch(std::vector<ino_t> const& before, std::chrono::seconds limit) : state_{std::make_shared<State>()} {
  int const usual_keep_alive = UsualKeepAlive();
  for (Socket const& socket : Sockets()) {
    bool const is_new = std::find(before.begin(), before.end(), socket.number) == before.end();
    if (is_new && IsConnectionOfXgboost(socket.descriptor, usual_keep_alive)) state_->links.push_back(socket);
  }
  state_->limit = limit + kGrace;
  if (state_->links.empty()) return;
  std::thread{[state = state_] {
    for (; !state->has_ended; std::this_thread::sleep_for(kBetweenLooks)) Look(*state);
  }}.detach();
}

LinkWatch::~LinkWatch() { state_->has_ended = true; }

void LinkWatch::Look(State const& state) {
  std::int64_t const since = state.waits_since;
  if (since == 0 || Clock::duration{Now() - since} < state.limit) return;
  for (Socket const& link : state.links) {
    if (Silence(link) < state.limit) return;
  }
  if (state.waits_since != since || state.has_ended) return;
  for (Socket const& link : state.links) {
    if (Silence(link) != std::chrono::milliseconds::max()) shutdown(link.descriptor, SHUT_RDWR);
  }
}

LinkWatch::Call::Call(LinkWatch* watch) : watch_{watch} {
  if (watch_ != nullptr) watch_->state_->waits_since = Now();
}

LinkWatch::Call::~Call() {
  if (watch_ != nullptr) watch_->state_->waits_since = 0;
}

}  // namespace xgbgpu::plugin
