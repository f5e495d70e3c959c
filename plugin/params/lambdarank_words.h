/// lambdarank_… and ndcg_exp_gain, for an XGBoost that does not have them.
#ifndef XGBGPU_PLUGIN_PARAMS_LAMBDARANK_WORDS_H_
#define XGBGPU_PLUGIN_PARAMS_LAMBDARANK_WORDS_H_

#include <xgboost/json.h>

#include <map>
#include <string>

#include "xgb/types.h"

namespace xgbgpu::plugin {

/// The value of lambdarank_num_pair_per_sample that XGBoost saves if none was given.
constexpr char const* kPairsNotGiven = "4294967295";

/// The parameters of LambdaRank that the user of a ranking objective gave. One of them asks for LambdaRank as XGBoost 3
/// has it; the others have its defaults then.
class LambdaRankWords {
 public:
  /// Adds the words among `args`. Throws InvalidArgument, with the parameter, its value and what is allowed.
  void Take(xgboost::Args const& args);
  /// Replaces the words by the words in a saved configuration of an objective, which may have none.
  void Load(xgboost::Json const& config);
  /// Adds a section to the saved configuration of an objective, as XGBoost 2.0 and later write it, if there are words.
  void Save(xgboost::Json* config) const;

 private:
  std::map<std::string, std::string> words_;
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_PARAMS_LAMBDARANK_WORDS_H_
