/// Names of the stages of a tree and of a round, for traces and profilers.
#ifndef XGBGPU_BASE_STAGES_H_
#define XGBGPU_BASE_STAGES_H_

namespace xgbgpu {

inline constexpr char kGradients[] = "gradients";
inline constexpr char kRoot[] = "root rows";
inline constexpr char kMove[] = "partition";
inline constexpr char kSum[] = "histograms";
inline constexpr char kSplit[] = "splits";
inline constexpr char kExchange[] = "exchange";  ///< sums of a level over devices
inline constexpr char kWalk[] = "leaves";
inline constexpr char kSides[] = "sides";            ///< exact trees find the side of every row
inline constexpr char kThresholds[] = "thresholds";  ///< exact trees look up the values at their splits

inline constexpr char kObjective[] = "objective";    ///< gradients from margins
inline constexpr char kMargins[] = "margins";        ///< leaf values are added to the training rows
inline constexpr char kEvaluation[] = "evaluation";  ///< new trees are added to the rows of an evaluation set
inline constexpr char kMetric[] = "metric";

}  // namespace xgbgpu

#endif  // XGBGPU_BASE_STAGES_H_
