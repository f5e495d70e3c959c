// Copies constraints to a device and keeps the limits of nodes there.
#include "split/constraints_cuda.h"

#include <utility>

namespace xgbgpu::cuda {

namespace {

constexpr char kPart[] = "constraints";

/// Makes room for `size` elements, of which the first `used` stay, and twice as much in all.
template <typename T>
void MakeRoom(DeviceBuffer<T>* buffer, std::size_t used, std::size_t size, DeviceArena* arena, Stream const& stream) {
  if (buffer->size() < size) Enlarge(buffer, arena, kPart, used, 2 * size, stream);
}

}  // namespace

void DeviceConstraints::Set(Constraints constraints, std::size_t nodes, DeviceArena* arena, Stream const& stream) {
  if (constraints != constraints_) {
    constraints_ = {};  // in case memory runs out
    auto const& directions = constraints.directions();
    auto const& sets = constraints.sets_of_features();
    Reserve(&directions_, arena, kPart, directions.size());
    Reserve(&sets_of_features_, arena, kPart, sets.size());
    CopyToDevice(directions_.data(), directions.data(), directions.size(), stream, "copying constraints");
    CopyToDevice(sets_of_features_.data(), sets.data(), sets.size(), stream, "copying constraints");
    stream.Wait("copying constraints");
    constraints_ = std::move(constraints);
  }
  if (constraints_.monotone() && Reserve(&bounds_, arena, kPart, nodes)) {
    WeightBounds const root;  // constant
    CopyToDevice(bounds_.data(), &root, 1, stream, "copying constraints");
    stream.Wait("copying constraints");
  }
  if (Reserve(&sets_, arena, kPart, nodes * constraints_.set_words())) {
    FillBytes(sets_.data(), 0, sets_.size(), stream, "clearing new memory");  // the root's are copied, but never read
  }
}

void DeviceConstraints::Extend(std::size_t used, std::size_t nodes, DeviceArena* arena, Stream const& stream) {
  if (constraints_.monotone()) MakeRoom(&bounds_, used, nodes, arena, stream);
  std::size_t const words = constraints_.set_words();
  if (words != 0) MakeRoom(&sets_, used * words, nodes * words, arena, stream);
}

NodeLimitsView DeviceConstraints::View() const {
  NodeLimitsView view{};
  if (constraints_.monotone()) {
    view.directions = directions_.data();
    view.bounds = bounds_.data();
  }
  if (constraints_.interaction()) {
    view.sets_of_features = sets_of_features_.data();
    view.sets = sets_.data();
    view.set_words = constraints_.set_words();
  }
  return view;
}

}  // namespace xgbgpu::cuda
