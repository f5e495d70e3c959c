skip_if_not_installed("xgboost")
suppressPackageStartupMessages(library(xgboost))

set.seed(1)
rows <- 2000
x <- matrix(rnorm(rows * 6), rows, dimnames = list(NULL, paste0("f", 1:6)))
x[sample(length(x), 500)] <- NA
y <- as.numeric(rowSums(cbind(x[, 1] > 0, x[, 2] * x[, 3] > .5), na.rm = TRUE) + rnorm(rows, sd = .3) > 1)
train <- xgb.DMatrix(x[1:1500, ], label = y[1:1500])
valid <- xgb.DMatrix(x[1501:rows, ], label = y[1501:rows])
parameters <- list(tree_method = "gpu_hist", gpu_backend = "host", objective = "binary:logistic", max_depth = 4, nthread = 2)

fit <- function(..., rounds = 5, data = train) xgb.train(modifyList(parameters, list(...)), data, rounds, verbose = 0)
text_of <- function(booster) xgb.dump(booster, with_stats = TRUE)

test_that("gpu_hist learns, and predicts what is saved", {
  booster <- xgb.train(parameters, train, 10, watchlist = list(valid = valid), verbose = 0)
  expect_lt(booster$evaluation_log$valid_logloss[10], booster$evaluation_log$valid_logloss[1])
  expected <- predict(booster, valid)
  expect_length(expected, rows - 1500)
  expect_identical(predict(booster, x[1501:rows, ]), expected)
  file <- tempfile(fileext = ".json")
  xgb.save(booster, file)
  expect_identical(predict(xgb.load(file), valid), expected)
  saveRDS(booster, file)
  expect_identical(predict(readRDS(file), valid), expected)
  margins <- predict(booster, valid, outputmargin = TRUE)
  # Sums of 10 trees' and 7 columns' floats below 8 in two orders: an error of at most 70 units of 2^-21.
  expect_equal(unname(rowSums(predict(booster, valid, predcontrib = TRUE))), margins, tolerance = 70 * 2^-21 / mean(abs(margins)))
})

test_that("what stock XGBoost does not have is there", {
  expect_false(identical(text_of(fit(grow_policy = "symmetric")), text_of(fit())))
  expect_false(identical(text_of(fit(sampling_method = "gradient_based", subsample = .3)), text_of(fit())))
  expect_error(fit(tree_method = "hist", grow_policy = "symmetric"), "grow_policy")
  exact <- fit(tree_method = "gpu_exact")
  expect_identical(exact$niter, 5)
})

test_that("threads change nothing, and neither does a second training", {
  expect_identical(text_of(fit(nthread = 1)), text_of(fit(nthread = 2)))
  expect_identical(text_of(fit(subsample = .5)), text_of(fit(subsample = .5)))
})

test_that("seed chooses the sample, and set.seed does not", {
  sampled <- function(drawn, ...) {
    set.seed(drawn)
    text_of(suppressWarnings(fit(subsample = .5, ...)))
  }
  expect_identical(sampled(1), sampled(2))
  expect_false(identical(sampled(1, seed = 1), sampled(1, seed = 2)))
})

test_that("cross-validation, early stopping and functions of the user work", {
  cross <- xgb.cv(parameters, train, nrounds = 4, nfold = 3, metrics = "auc", verbose = 0)
  expect_gt(cross$evaluation_log$test_auc_mean[4], .7)
  stopped <- xgb.train(parameters, train, 500, list(valid = valid), early_stopping_rounds = 3, verbose = 0)
  expect_lt(stopped$niter, 500)
  squares <- function(predictions, data) list(grad = predictions - getinfo(data, "label"), hess = rep(1, length(predictions)))
  worst <- function(predictions, data) list(metric = "worst", value = max(abs(predictions - getinfo(data, "label"))))
  own <- xgb.train(parameters[names(parameters) != "objective"], train, 3, list(train = train), obj = squares, feval = worst,
                   maximize = FALSE, verbose = 0)
  expect_named(own$evaluation_log, c("iter", "train_worst"))
})

test_that("sparse and integer matrices train", {
  sparse <- Matrix::sparseMatrix(rep(1:500, 2), sample(6, 1000, TRUE), x = runif(1000), dims = c(500, 6))
  expect_length(predict(fit(data = xgb.DMatrix(sparse, label = y[1:500])), sparse), 500)
  whole <- matrix(sample(5L, 2000, TRUE), 500)
  expect_length(predict(fit(data = xgb.DMatrix(whole, label = y[1:500])), whole), 500)
})

test_that("an error names the parameter, and the next training works", {
  expect_error(fit(gpu_backend = "nope"), "gpu_backend is 'nope'; allowed: auto, cuda, host")
  expect_identical(fit()$niter, 5)
})

test_that("messages go to R's console", {
  told <- capture.output(fit(unheard_of = 1, verbosity = 1))
  expect_match(paste(told, collapse = " "), "unheard_of")
})

test_that("the library tells of itself and of trainings", {
  info <- build_info()
  expect_true(info$registered)
  expect_identical(substr(info$xgboost_running, 1, 4), "1.7.")
  expect_identical(info$bound, getLoadedDLLs()[["xgboost"]][["path"]])
  expect_true("host" %in% info$backends)
  booster <- fit()
  last <- tail(memory_report(), 1)[[1]]
  expect_identical(last$backend, "host")
  expect_identical(c(last$rows, last$columns), c(1500L, 6L))
  expect_gt(last$parts$gradients, 0)
})

test_that("a first training shows both methods and one model", {
  shown <- capture.output(try_gpu_hist(rows = 1000))
  expect_match(shown[1], paste0("^xgboost 1\\.7\\..* with xgboostgpu ", build_info()$version, ", on "))
  expect_match(shown[2], "^1,000 rows of 20 columns, 50 rounds$")
  expect_match(shown[5], "^hist +[0-9.]+ +\\.[0-9]{4}$")
  expect_match(shown[6], "^gpu_hist +[0-9.]+ +\\.[0-9]{4}$")
  expect_identical(shown[8], "The model of gpu_hist has the same bits with gpu_backend=host and one thread.")
  expect_error(try_gpu_hist(99.5), "rows is 99.5; allowed: a whole number from 100 on", fixed = TRUE)
  expect_error(try_gpu_hist("many"), 'rows is "many"; allowed: a whole number from 100 on', fixed = TRUE)
})
