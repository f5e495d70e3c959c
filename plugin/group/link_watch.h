/// Ends calls of XGBoost's communicator that would never return. docs/adr/0020-process-groups.md
#ifndef XGBGPU_PLUGIN_GROUP_LINK_WATCH_H_
#define XGBGPU_PLUGIN_GROUP_LINK_WATCH_H_

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

namespace xgbgpu::plugin {

/// Returns the numbers of the sockets that this process has open; nothing if it has no memory for them.
std::optional<std::vector<ino_t>> OpenSockets() noexcept;

/// Watches the connections of this process to other workers.
///
/// XGBoost waits rabit_timeout_sec seconds for a message. After the first bytes of a message it has no time limit. If a
/// cable is pulled in the middle of a message, or the sender's process stops there, XGBoost reads for ever and keeps a
/// core busy. A thread watches the connections while a call waits. If nothing comes on any of them for
/// rabit_timeout_sec and one more second, it cuts the connections, and the call fails.
///
/// Cost    the thread looks four times a second; a call pays two writes of a number
class LinkWatch {
 public:
  /// `before`: the result of OpenSockets() before this process connected to the other workers. The watch takes new
  /// connections with the options of XGBoost's: non-blocking, with keep-alive at the system's intervals. (Another
  /// thread may open sockets of Dask meanwhile. They have intervals of their own.)
  LinkWatch(std::vector<ino_t> const& before, std::chrono::seconds limit);
  ~LinkWatch();
  LinkWatch(LinkWatch const&) = delete;
  LinkWatch& operator=(LinkWatch const&) = delete;

  /// While it is alive, this process waits for other workers. The watch may be null: the wait is then not watched.
  class Call {
   public:
    explicit Call(LinkWatch* watch);
    ~Call();
    Call(Call const&) = delete;
    Call& operator=(Call const&) = delete;

   private:
    LinkWatch* watch_;
  };

 private:
  struct State;
  static void Look(State const& state);

  std::shared_ptr<State> state_;  ///< the thread's, too, which may live a moment longer
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_GROUP_LINK_WATCH_H_
