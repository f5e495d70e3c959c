// Checks the trees and weights of a loaded model before XGBoost follows their numbers.
#include "models/model_check.h"

#include <algorithm>
#include <array>
#include <limits>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/message.h"
#include "base/parallel.h"
#include "models/json_members.h"
#include "xgb/json_values.h"
#include "xgb/version.h"

namespace xgbgpu::plugin {

namespace {

using xgboost::Json;

Json const& Member(Json const& object, char const* name) {
  Json const* const found = Find(object, name);
  if (found == nullptr) Throw<InvalidArgument>("The model has no ", name, "; allowed: a complete model");
  return *found;
}

/// A list of numbers: of JSON values, or of one type, as UBJSON has them.
class List {
 public:
  explicit List(Json const& list) {
    switch (list.GetValue().Type()) {
      case xgboost::Value::ValueKind::kArray:
        Set(&values_, xgboost::get<xgboost::Array const>(list));
        break;
      case xgboost::Value::ValueKind::kU8Array:
        Set(&u8_, xgboost::get<xgboost::U8Array const>(list));
        break;
      case xgboost::Value::ValueKind::kI32Array:
        Set(&i32_, xgboost::get<xgboost::I32Array const>(list));
        break;
      case xgboost::Value::ValueKind::kI64Array:
        Set(&i64_, xgboost::get<xgboost::I64Array const>(list));
        break;
      case kFloatList:
        size_ = xgboost::get<xgboost::F32Array const>(list).size();
        break;
      default:
        is_list_ = false;
    }
  }

  bool is_list() const { return is_list_; }
  /// Those of UBJSON as they lie there.
  std::int32_t const* whole() const { return i32_; }
  std::size_t size() const { return size_; }
  /// True if all numbers are known to be 0. False for JSON values, unless the list is empty.
  bool is_zero() const {
    if (u8_ == nullptr) return size_ == 0;
    std::uint8_t all = 0;
    for (std::size_t i = 0; i < size_; ++i) all |= u8_[i];
    return all == 0;
  }
  /// Nothing if it is no whole number.
  std::optional<std::int64_t> operator[](std::size_t i) const {
    if (i32_ != nullptr) return i32_[i];
    if (values_ != nullptr) {
      if (!xgboost::IsA<xgboost::Integer>(values_[i])) return {};
      return xgboost::get<xgboost::Integer const>(values_[i]);
    }
    if (u8_ != nullptr) return u8_[i];
    if (i64_ != nullptr) return i64_[i];
    return {};
  }

 private:
  template <typename T>
  void Set(T const** to, std::vector<T> const& list) {
    *to = list.data();
    size_ = list.size();
  }

  Json const* values_{nullptr};
  std::uint8_t const* u8_{nullptr};
  std::int32_t const* i32_{nullptr};
  std::int64_t const* i64_{nullptr};
  std::size_t size_{0};
  bool is_list_{true};
};

/// What a saved tree consists of, in the order of a map.
enum Part {
  kBaseWeights,
  kCategories,
  kCategoriesNodes,
  kCategoriesSegments,
  kCategoriesSizes,
  kDefaultLeft,
  kId,
  kLeafWeights,
  kLeftChildren,
  kLossChanges,
  kParents,
  kRightChildren,
  kSplitConditions,
  kSplitIndices,
  kSplitType,
  kSumHessian,
  kTreeParam,
  kParts
};
constexpr std::array<std::string_view, kParts> kNames{"base_weights",
                                                      "categories",
                                                      "categories_nodes",
                                                      "categories_segments",
                                                      "categories_sizes",
                                                      "default_left",
                                                      "id",
                                                      "leaf_weights",
                                                      "left_children",
                                                      "loss_changes",
                                                      "parents",
                                                      "right_children",
                                                      "split_conditions",
                                                      "split_indices",
                                                      "split_type",
                                                      "sum_hessian",
                                                      "tree_param"};

/// A saved tree, found in one walk over its members: a look-up for each would take longer than to read the tree.
class SavedTree {
 public:
  /// The tree at `place` in the list of trees.
  SavedTree(Json const& saved, std::size_t place) : place_{place} {
    if (!xgboost::IsA<xgboost::Object>(saved)) Throw<InvalidArgument>("Tree ", place, " is no object; allowed: a tree");
    auto const& members = xgboost::get<xgboost::Object const>(saved);
    at_ = members.cbegin();
    end_ = members.cend();
  }

  /// Looks at the next member. Returns false if there is none.
  bool Step() {
    if (at_ == end_) return false;
    std::string_view const name = at_->first;
    bool is_part = next_ < kParts && kNames[next_] == name;
    if (!is_part) {  // of another version, or one is missing
      while (next_ < kParts && kNames[next_] < name) ++next_;
      is_part = next_ < kParts && kNames[next_] == name;
    }
    if (is_part) {
      parts_[next_++] = &at_->second;
      __builtin_prefetch(&at_->second.GetValue());
    }
    if (++at_ != end_) __builtin_prefetch(&*at_);
    return true;
  }
  /// After all steps: reads the id of one of `trees` trees.
  void ReadId(std::size_t trees) {
    Json const* const id = parts_[kId];
    bool const is_number = id != nullptr && xgboost::IsA<xgboost::Integer>(*id);
    std::int64_t const value = is_number ? xgboost::get<xgboost::Integer const>(*id) : -1;
    if (value < 0 || static_cast<std::uint64_t>(value) >= trees) WrongId(place_, value, trees);
    number_ = static_cast<std::size_t>(value);
  }

  [[noreturn]] static void WrongId(std::size_t place, std::int64_t id, std::size_t trees) {
    Throw<InvalidArgument>("Tree ", place, " in the list of trees has the id ", id, "; allowed: 0 to ", trees - 1,
                           ", each once");
  }

  /// Its id.
  std::size_t number() const { return number_; }

  bool Has(Part part) const { return parts_[part] != nullptr; }
  Json const& operator[](Part part) const {
    if (!Has(part)) Throw<InvalidArgument>("Tree ", number_, " has no ", kNames[part], "; allowed: a complete tree");
    return *parts_[part];
  }

 private:
  std::size_t place_;
  xgboost::Object::Map::const_iterator at_, end_;
  std::size_t next_{0};  ///< part, at the next step or later
  std::array<Json const*, kParts> parts_{};
  std::size_t number_{0};
};

/// A list of the tree; `size`: what it must have.
List ListOf(SavedTree const& saved, Part part, std::optional<std::size_t> size) {
  List const list{saved[part]};
  if (!list.is_list()) {
    Throw<InvalidArgument>("Tree ", saved.number(), ": ", kNames[part], " is no list; allowed: a list of numbers");
  }
  if (size && list.size() != *size) {
    Throw<InvalidArgument>("Tree ", saved.number(), " has ", list.size(), " values in ", kNames[part],
                           "; allowed: ", *size);
  }
  return list;
}

/// A whole number in a list of the tree.
std::int64_t At(List const& list, std::size_t i, std::size_t tree, std::string_view name) {
  auto const value = list[i];
  if (!value) Throw<InvalidArgument>("Tree ", tree, ": value ", i, " in ", name, " is none; allowed: whole numbers");
  return *value;
}

/// All numbers of a list, for repeated look-ups. XGBoost stores 32 bits for each; numbers beyond 32 bits are refused.
class Numbers {
 public:
  /// `memory` must outlive it.
  Numbers(List const& list, std::size_t tree, std::string_view name, std::vector<std::int32_t>* memory)
      : values_{list.whole()} {
    if (values_ != nullptr) return;
    memory->resize(list.size());
    for (std::size_t i = 0; i < list.size(); ++i) {
      constexpr std::int64_t kLeast = std::numeric_limits<std::int32_t>::min();
      constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
      (*memory)[i] = static_cast<std::int32_t>(std::clamp(At(list, i, tree, name), kLeast, kMost));
    }
    values_ = memory->data();
  }
  std::int32_t operator[](std::size_t i) const { return values_[i]; }

 private:
  std::int32_t const* values_;
};

/// Sets of categories: which nodes have one, and that each is within the list. XGBoost reads all, reachable or not.
std::vector<bool> NodesWithCategories(SavedTree const& saved, std::int64_t nodes) {
  std::size_t const tree = saved.number();
  constexpr std::int64_t kTooMany = 1 << 24;  // XGBoost counts them in floats
  auto const listed = ListOf(saved, kCategoriesNodes, {});
  auto const segments = ListOf(saved, kCategoriesSegments, listed.size());
  auto const sizes = ListOf(saved, kCategoriesSizes, listed.size());
  auto const categories = ListOf(saved, kCategories, {});
  auto const all = static_cast<std::int64_t>(categories.size());
  for (std::size_t i = 0; i < categories.size(); ++i) {
    std::int64_t const category = At(categories, i, tree, "categories");
    if (category >= 0 && category < kTooMany) continue;
    Throw<InvalidArgument>("Tree ", tree, ": value ", i, " in categories is ", category, "; allowed: 0 to ",
                           kTooMany - 1);
  }
  std::vector<bool> has(listed.size() == 0 ? 0 : static_cast<std::size_t>(nodes));
  std::int64_t before = -1;
  for (std::size_t i = 0; i < listed.size(); ++i) {
    std::int64_t const node = At(listed, i, tree, "categories_nodes");
    if (node <= before || node >= nodes) {
      Throw<InvalidArgument>("Tree ", tree, ": value ", i, " in categories_nodes is ", node, "; allowed: ", before + 1,
                             " to ", nodes - 1, ", in order");
    }
    std::int64_t const begin = At(segments, i, tree, "categories_segments");
    std::int64_t const size = At(sizes, i, tree, "categories_sizes");
    if (begin < 0 || begin >= all || size < 1 || size > all - begin) {
      Throw<InvalidArgument>("Node ", node, " of tree ", tree, " has ", size, " categories from ", begin,
                             " on; allowed: 1 or more of those listed, which are ", all);
    }
    has[static_cast<std::size_t>(node)] = true;
    before = node;
  }
  return has;
}

/// Memory that all trees use.
struct Scratch {
  std::vector<std::int32_t> left, right, parents, features, types;
  std::vector<std::uint8_t> seen;
  std::vector<std::int32_t> todo;
};

/// The numbers of a tree whose leaves are vectors of `outputs` numbers each, and where XGBoost looks for a leaf's.
void CheckVectors(SavedTree const& saved, std::int64_t outputs, Numbers const& left, Numbers const& right,
                  std::size_t nodes) {
  auto const vector = static_cast<std::size_t>(outputs);
  std::size_t const weights = ListOf(saved, kBaseWeights, {}).size();
  // A tree may be split by gradients of fewer outputs.
  std::size_t const least = kLeafVectors == LeafVectors::kOfLeaves ? 1 : vector;
  if (weights % nodes != 0 || weights / nodes < least || weights / nodes > vector) {
    Throw<InvalidArgument>("Tree ", saved.number(), " has ", weights, " values in base_weights, ", nodes,
                           " nodes, and leaves of ", outputs, " numbers (size_leaf_vector); allowed: ", least, " to ",
                           outputs, " for each node");
  }
  if (kLeafVectors == LeafVectors::kOfNodes) return;
  std::size_t const values = ListOf(saved, kLeafWeights, {}).size();
  if (values % vector != 0) {
    Throw<InvalidArgument>("Tree ", saved.number(), " has ", values, " values in leaf_weights; allowed: ", outputs,
                           " for each leaf (size_leaf_vector)");
  }
  for (std::size_t n = 0; n < nodes; ++n) {
    if (left[n] != -1 || static_cast<std::uint32_t>(right[n]) < values / vector) continue;
    Throw<InvalidArgument>("Leaf ", n, " of tree ", saved.number(), " has the number ", right[n],
                           " (right_children); allowed: a leaf of those in leaf_weights, which are ", values / vector);
  }
}

/// The relations of a tree's nodes, and the features that split them.
struct NodeNumbers {
  Numbers left, right, parents, features;
};

/// Tells whether the tree is as trees grow: each pair of children lies behind its parent, and there are no other nodes.
/// *most: the highest number of a feature. Each node is reached once if there are as many parents as pairs. The
/// comparison reads numbers in order, without branches to guess. It takes a fraction of the time of a walk from the root.
bool IsAsGrown(NodeNumbers const& of, std::size_t size, std::int32_t* most) {
  if (size % 2 == 0) return false;
  std::uint32_t differences = 0;
  std::int32_t highest = -1, least = 0;
  for (std::uint32_t child = 1; child < size; child += 2) {
    auto const parent = static_cast<std::uint32_t>(of.parents[child]);
    std::uint32_t const before = std::min(parent, child - 1);
    differences |= parent ^ before;
    differences |= parent ^ static_cast<std::uint32_t>(of.parents[child + 1]);
    differences |= child ^ static_cast<std::uint32_t>(of.left[before]);
    differences |= (child + 1) ^ static_cast<std::uint32_t>(of.right[before]);
    highest = std::max(highest, of.features[before]);
    least = std::min(least, of.features[before]);
  }
  if (differences != 0 || least != 0) return false;
  std::size_t inner = 0;
  for (std::size_t n = 0; n < size; ++n) inner += of.left[n] != -1 ? 1U : 0U;
  *most = highest;
  return 2 * inner + 1 == size;
}

/// The kinds of a tree's splits.
struct SplitTypes {
  std::optional<Numbers> of_nodes;  ///< none: no node is split by categories
  std::vector<bool> has_categories;

  void Check(std::size_t tree, std::size_t n) const {
    if (!of_nodes) return;
    std::int64_t const type = (*of_nodes)[n];
    bool const has = n < has_categories.size() && has_categories[n];
    if (type == 0 || (type == 1 && has)) return;
    Throw<InvalidArgument>("Node ", n, " of tree ", tree, " has the split_type ", type,
                           type == 1 ? " and is not in categories_nodes" : "",
                           "; allowed: 0, or 1 for a node that has categories");
  }
};

/// Walks from the root, and checks that each node is reached at most once. Children are neighbours, so that a pair is
/// known by the left one.
void CheckNodes(std::size_t tree, NodeNumbers const& of, SplitTypes const& types, std::size_t size, Scratch* scratch,
                FoundNumber* last) {
  auto const nodes = static_cast<std::int64_t>(size);
  for (std::size_t n = 1; n < size; ++n) {
    if (static_cast<std::uint32_t>(of.parents[n]) < size) continue;
    Throw<InvalidArgument>("Node ", n, " of tree ", tree, " has the parent ", of.parents[n], "; allowed: 0 to ",
                           nodes - 1);
  }
  auto& seen = scratch->seen;
  auto& todo = scratch->todo;
  seen.assign(size, 0);
  todo.resize(size);
  todo[0] = 0;
  std::size_t end = 1;
  for (std::size_t begin = 0; begin < end; ++begin) {
    std::int64_t const node = todo[begin];
    auto const n = static_cast<std::size_t>(node);
    std::int64_t const child = of.left[n];
    if (child == -1) continue;
    if (child < 1 || child >= nodes - 1) {
      Throw<InvalidArgument>("Node ", node, " of tree ", tree, " has the left child ", child, "; allowed: 1 to ",
                             nodes - 2, ", or -1 for a leaf");
    }
    std::int64_t const other = of.right[n];
    if (other != child + 1) {
      Throw<InvalidArgument>("Node ", node, " of tree ", tree, " has the right child ", other, "; allowed: ", child + 1,
                             ", the node after its left child");
    }
    for (std::int64_t const next : {child, other}) {
      if (seen[static_cast<std::size_t>(next)] != 0) {
        Throw<InvalidArgument>("Node ", node, " of tree ", tree, " has the child ", next,
                               ", which another node has, too; allowed: one way from the root to each node");
      }
      seen[static_cast<std::size_t>(next)] = 1;
      todo[end++] = static_cast<std::int32_t>(next);
    }
    std::int64_t const feature = of.features[n];
    if (feature < 0) {
      Throw<InvalidArgument>("Node ", node, " of tree ", tree, " splits feature ", feature, "; allowed: 0 or larger");
    }
    if (feature > last->value) *last = {feature, tree, node};
    types.Check(tree, n);
  }
}

/// Returns how many numbers each leaf has. *last: of all features that are split, the one with the highest number.
std::int64_t CheckTree(SavedTree const& saved, Scratch* scratch, FoundNumber* last) {
  std::size_t const tree = saved.number();
  auto const lefts = ListOf(saved, kLeftChildren, {});
  std::size_t const size = lefts.size();
  auto const nodes = static_cast<std::int64_t>(size);
  std::int64_t const said = Number(saved[kTreeParam], "num_nodes", 1);
  if (said != nodes || nodes < 1 || nodes > std::numeric_limits<std::int32_t>::max()) {
    Throw<InvalidArgument>("Tree ", tree, " has ", size, " values in left_children and num_nodes is ", said,
                           "; allowed: the same number, 1 or more");
  }
  auto const numbers = [&](Part part, std::vector<std::int32_t>* memory) {
    return Numbers{ListOf(saved, part, size), tree, kNames[part], memory};
  };
  NodeNumbers const of{Numbers{lefts, tree, kNames[kLeftChildren], &scratch->left},
                       numbers(kRightChildren, &scratch->right), numbers(kParents, &scratch->parents),
                       numbers(kSplitIndices, &scratch->features)};
  for (Part const part : {kSplitConditions, kDefaultLeft}) ListOf(saved, part, size);
  std::int64_t const outputs = kLeafVectors == LeafVectors::kNowhere
                                   ? 1
                                   : std::max<std::int64_t>(Number(saved[kTreeParam], "size_leaf_vector", 1), 1);
  if (outputs > 1) CheckVectors(saved, outputs, of.left, of.right, size);
  if (outputs == 1) ListOf(saved, kBaseWeights, size);
  if (outputs == 1 || kLeafVectors == LeafVectors::kOfLeaves) {
    for (Part const part : {kLossChanges, kSumHessian}) ListOf(saved, part, size);
  }
  // Trees without a split by categories need no look at types of nodes.
  SplitTypes types;
  if (saved.Has(kSplitType)) {
    List const list = ListOf(saved, kSplitType, size);
    if (!list.is_zero()) types.of_nodes.emplace(list, tree, kNames[kSplitType], &scratch->types);
    types.has_categories = NodesWithCategories(saved, nodes);
  }
  std::int32_t most = -1;
  if (types.of_nodes || !IsAsGrown(of, size, &most)) {
    CheckNodes(tree, of, types, size, scratch, last);
  } else if (most > last->value) {
    std::size_t node = 0;
    while (of.left[node] == -1 || of.features[node] != most) ++node;
    *last = {most, tree, static_cast<std::int64_t>(node)};
  }
  return outputs;
}

/// Checks that each tree has a weight: in a dart, and since 3.3 in any gbtree with weights. Weights stand beside the
/// model, since 3.4 in it. In a gbtree without weights all are 1. Returns true if there are weights.
bool CheckWeightsOfTrees(Json const& booster, Json const& model, std::size_t trees) {
  std::string const* const name = FindText(booster, "name");
  bool const is_dart = name != nullptr && *name == "dart";
  Json const* weights = is_dart ? &Member(booster, "weight_drop") : Find(booster, "weight_drop");
  if (weights == nullptr) weights = Find(model, "weight_drop");
  if (weights == nullptr) return false;
  List const list{*weights};
  if (!is_dart && list.is_list() && list.size() == 0) return false;
  if (list.size() >= trees) return true;  // stock code adds more when it updates trees
  Throw<InvalidArgument>("The model has ", trees, " trees and weight_drop has ", list.size(),
                         " values; allowed: one for each tree, or more");
}

}  // namespace

void LoadedModel::CheckTrees(Json const& booster, int threads) {
  LoadedModel next;
  std::string const* const name = FindText(booster, "name");
  bool const is_dart = name != nullptr && *name == "dart";
  Json const& model = Member(is_dart ? Member(booster, "gbtree") : booster, "model");
  Json const& list = Member(model, "trees");
  if (!xgboost::IsA<xgboost::Array>(list)) Throw<InvalidArgument>("trees of the model are no list; allowed: a list");
  auto const& trees = xgboost::get<xgboost::Array const>(list);
  next.trees_ = trees.size();
  Json const& params = Member(model, "gbtree_model_param");
  std::int64_t const said = Number(params, "num_trees", 0);
  List const info{Member(model, "tree_info")};
  if (static_cast<std::uint64_t>(said) != trees.size() || info.size() != trees.size()) {
    Throw<InvalidArgument>("The model has ", trees.size(), " trees, num_trees is ", said, ", and tree_info has ",
                           info.size(), " values; allowed: the same number of each");
  }
  next.parallel_trees_ = Number(params, "num_parallel_tree", 1);
  bool const has_weights = CheckWeightsOfTrees(booster, model, trees.size());
  constexpr bool kGBTreeReadsWeights = kSeries >= 303;
  next.has_tree_weights_ = has_weights && kGBTreeReadsWeights;
  for (std::size_t t = 0; t < trees.size(); ++t) {
    std::int64_t const output = At(info, t, t, "tree_info");
    if (output < 0) Throw<InvalidArgument>("Tree ", t, " is of output ", output, " (tree_info); allowed: 0 or larger");
    if (output > next.output_.value) next.output_ = {output, t, 0};
  }
  std::vector<std::size_t> ids(trees.size());
  std::vector<std::int64_t> vectors(trees.size());
  std::mutex mutex;
  ParallelChunks(threads, trees.size(), 64, [&](std::size_t begin, std::size_t end) {
    // A step reads memory far from all earlier reads. Steps of several trees need not wait for each other.
    constexpr std::size_t kAtOnce = 8;
    std::vector<SavedTree> saved;
    Scratch scratch;
    FoundNumber last;
    for (; begin < end; begin += saved.size()) {
      saved.clear();
      for (std::size_t t = begin; t < std::min(end, begin + kAtOnce); ++t) saved.emplace_back(trees[t], t);
      for (bool more = true; more;) {
        more = false;
        for (auto& tree : saved) more = tree.Step() || more;
      }
      for (std::size_t i = 0; i < saved.size(); ++i) {
        saved[i].ReadId(trees.size());
        ids[begin + i] = saved[i].number();
        vectors[begin + i] = CheckTree(saved[i], &scratch, &last);
      }
    }
    std::lock_guard<std::mutex> lock{mutex};
    if (last.value > next.feature_.value) next.feature_ = last;
  });
  std::vector<bool> seen(trees.size());
  for (std::size_t t = 0; t < trees.size(); ++t) {
    if (seen[ids[t]]) SavedTree::WrongId(t, static_cast<std::int64_t>(ids[t]), trees.size());
    seen[ids[t]] = true;
    if (vectors[t] == 1) continue;
    if (next.vector_.value != -1 && next.vector_.value != vectors[t]) {
      Throw<InvalidArgument>("Tree ", ids[t], " has leaves of ", vectors[t], " numbers (size_leaf_vector), and tree ",
                             next.vector_.tree, " of ", next.vector_.value, "; allowed: the same number");
    }
    next.vector_ = {vectors[t], ids[t], 0};
  }
  *this = next;
}

void LoadedModel::CheckWeights(Json const& booster) {
  List const weights{Member(Member(booster, "model"), "weights")};
  if (!weights.is_list()) Throw<InvalidArgument>("weights of the model are no list; allowed: a list of numbers");
  Forget();
  weights_ = weights.size();
}

void LoadedModel::CheckFeatures(std::uint64_t features) const {
  auto const most = static_cast<std::int64_t>(features) - 1;
  if (feature_.value <= most) return;
  Throw<InvalidArgument>("Node ", feature_.node, " of tree ", feature_.tree, " splits feature ", feature_.value,
                         ", and the model has ", features, " features (num_feature); allowed: 0 to ", most);
}

void LoadedModel::CheckOutputs(std::uint32_t outputs) const {
  if (trees_ == 0) return;
  if (output_.value >= std::int64_t{outputs}) {
    Throw<InvalidArgument>("Tree ", output_.tree, " is of output ", output_.value, " (tree_info); allowed: 0 to ",
                           std::int64_t{outputs} - 1, ", as num_class and num_target say");
  }
  if (vector_.value != -1 && vector_.value != std::int64_t{outputs}) {
    Throw<InvalidArgument>("Tree ", vector_.tree, " has leaves of ", vector_.value,
                           " numbers (size_leaf_vector); allowed: ", outputs, ", as num_class and num_target say");
  }
  if (outputs > trees_ && vector_.value == -1) {
    Throw<InvalidArgument>("The model has ", trees_, " trees for ", outputs,
                           " outputs (num_class, num_target); allowed: a tree or more for each output");
  }
  if (parallel_trees_ > std::numeric_limits<std::int32_t>::max() / std::int64_t{outputs}) {
    Throw<InvalidArgument>("The model has ", parallel_trees_, " trees in a round for each of ", outputs,
                           " outputs (num_parallel_tree); allowed: 2147483647 together");
  }
}

void LoadedModel::CheckWeightsFor(std::uint64_t features, std::uint32_t outputs) const {
  if (!weights_ || *weights_ == 0 || *weights_ == (features + 1) * outputs) return;
  Throw<InvalidArgument>("The linear model has ", *weights_, " weights; allowed: ", (features + 1) * outputs, ", for ",
                         outputs, " outputs one for each of ", features, " features and one more");
}

void CheckSlice(std::uint32_t rounds, std::int32_t begin, std::int32_t end, std::int32_t step) {
  if (step < 1) Throw<InvalidArgument>("The step of a slice of a booster is ", step, "; allowed: 1 or more");
  auto const all = static_cast<std::int32_t>(rounds);
  std::int32_t const last = end == 0 ? all : end;
  if (begin < 0 || begin >= last || last > all || (last - begin) % step == 0) return;  // XGBoost has the words
  Throw<InvalidArgument>(
      "The step of a slice of a booster is ", step, ", which does not divide its ", last - begin, " rounds (", begin,
      " to ", last, "): XGBoost would lose the last of the slice; allowed: 1, or ", "a step that divides end - begin");
}

}  // namespace xgbgpu::plugin
