/// The living objects of a class.
#ifndef XGBGPU_PLUGIN_XGB_LISTING_H_
#define XGBGPU_PLUGIN_XGB_LISTING_H_

#include <algorithm>
#include <mutex>
#include <vector>

namespace xgbgpu::plugin {

/// Keeps an object on the list of its class, for any thread to look at. It is the last member of the object: the object
/// is complete while it is listed.
template <typename T>
class Listing {
 public:
  explicit Listing(T const* object) : object_{object} {
    List& list = List::Instance();
    std::lock_guard<std::mutex> const lock{list.mutex};
    list.objects.push_back(object_);
  }
  ~Listing() {
    List& list = List::Instance();
    std::lock_guard<std::mutex> const lock{list.mutex};
    list.objects.erase(std::find(list.objects.cbegin(), list.objects.cend(), object_));
  }
  Listing(Listing const&) = delete;
  Listing& operator=(Listing const&) = delete;

  /// Returns true if is(object) is true for a listed object. No object is made or destroyed meanwhile.
  template <typename F>
  static bool Any(F&& is) {
    List& list = List::Instance();
    std::lock_guard<std::mutex> const lock{list.mutex};
    return std::any_of(list.objects.cbegin(), list.objects.cend(), [&](T const* object) { return is(*object); });
  }
  /// Calls visit(object) for each listed object, the oldest first. No object is made or destroyed meanwhile.
  template <typename F>
  static void ForEach(F&& visit) {
    List& list = List::Instance();
    std::lock_guard<std::mutex> const lock{list.mutex};
    for (T const* const object : list.objects) visit(*object);
  }

 private:
  struct List {
    std::mutex mutex;
    std::vector<T const*> objects;

    static List& Instance() {
      static auto* const kList = new List;  // never freed: objects may live until the process ends
      return *kList;
    }
  };

  T const* object_;
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_XGB_LISTING_H_
