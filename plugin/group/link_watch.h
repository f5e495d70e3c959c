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
/// XGBoost waits rabit_timeout_sec seconds for a message. But as soon as the first bytes of one are there, it reads
/// until the last have come, without a limit: if a cable is pulled in the middle of a message, or the sender's process
/// stops there, it reads for ever, and keeps a core busy. A thread notices that nothing has come on any connection for
/// as long, and a second more, while a call waits. It cuts the connections then, whereupon the call fails.
///
/// Cost    the thread looks four times a second; a call pays two writes of a number
class LinkWatch {
 public:
  /// `before` is what OpenSockets() said before this process connected to the other workers. The watched connections
  /// are the new ones that have the options of XGBoost's: they do not block, and are kept alive at the system's
  /// intervals. (Sockets of Dask, which another thread may open meanwhile, have intervals of their own.)
  LinkWatch(std::vector<ino_t> const& before, std::chrono::seconds limit);
  ~LinkWatch();
  LinkWatch(LinkWatch const&) = delete;
  LinkWatch& operator=(LinkWatch const&) = delete;

  /// While it is alive, this process waits for others. The watch may be null: nobody looks then.
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
