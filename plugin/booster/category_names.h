/// Names of categories. By them XGBoost 3.1 and newer translate the codes of a frame into the codes of the training.
#ifndef XGBGPU_PLUGIN_BOOSTER_CATEGORY_NAMES_H_
#define XGBGPU_PLUGIN_BOOSTER_CATEGORY_NAMES_H_

#include <xgboost/data.h>
#include <xgboost/json.h>

#include <cstddef>
#include <string>
#include <vector>

#include "booster/learner_view.h"
#include "matrix/matrix_rows.h"

namespace xgbgpu::plugin {

/// The names of the categories of each column, in the order of their codes.
class CategoryNames {
 public:
  /// Returns the names of the frame that the matrix was made of. Other matrices have none.
  static CategoryNames Of(xgboost::DMatrix const& data);
  /// Returns the names of the frame that the model was trained on first.
  static CategoryNames Of(LearnerView const& model) { return Of(*model.stock(), model.features()); }
  /// Returns the names in columns of an in-place prediction, a list of array interfaces (JSON).
  static CategoryNames OfColumns(char const* columns);

  /// Returns true if no column has named categories. The codes then count as the codes of the other side.
  bool none() const;

  /// Returns the code in the order of `model` for each code. `model` is not none(). Empty: the codes stay.
  ///
  /// Cost    a pass over the names if both are equal, else a search for each of them
  /// Throws  InvalidArgument for a name that the model lacks, names of another type, another number of columns
  Recoding To(CategoryNames const& model) const;
  /// Gives the names of `model` to the rounds of it that `slice` has. Before 3.4.1 XGBoost's slices have none.
  static void Give(LearnerView const& model, xgboost::GradientBooster* slice);
  /// Throws InvalidArgument unless a training can go on with the codes of `model`, which is not none().
  void CheckGoesOn(CategoryNames const& model) const;
  /// Returns a text about a code that `other` lacks or uses for another category; empty: there is none. `here` and
  /// `there` say where the names are, as in "in batch 1" and "in batch 0".
  std::string Unlike(CategoryNames const& other, std::string const& here, std::string const& there) const;

  /// Returns a text of all names. Two texts are equal exactly if Unlike finds no difference; empty: none().
  std::string ToText() const;
  /// Reads a text of ToText. The text does not keep the width of numbers.
  static CategoryNames OfText(std::string const& text);

 private:
  struct Column {
    std::string type;  ///< "text", or of an array interface, "i8"; empty: the column is no category
    std::vector<std::string> names;

    bool operator==(Column const& other) const { return type == other.type && names == other.names; }
    bool operator!=(Column const& other) const { return !(*this == other); }
  };

  /// Returns the names of the model of a stock booster that has `columns` columns.
  static CategoryNames Of(xgboost::GradientBooster const& model, FeatureIndex columns);
  static Column Read(xgboost::Json const& names);
  /// Returns a text about the first place where `from` and `to` have different names, or about the longer list; empty:
  /// the names are equal.
  static std::string Difference(std::size_t column, Column const& from, Column const& to, std::string const& here,
                                std::string const& there);

  std::vector<Column> columns_;
};

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_BOOSTER_CATEGORY_NAMES_H_
