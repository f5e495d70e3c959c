# A small training by gpu_hist beside one by hist, on generated data.

try_gpu_hist <- function(rows = 200000) {
  if (!is.numeric(rows) || length(rows) != 1 || is.na(rows) || rows < 100 || rows != floor(rows)) {
    stop(sprintf("rows is %s; allowed: a whole number from 100 on", deparse1(rows)), call. = FALSE)
  }
  if (!requireNamespace("xgboost", quietly = TRUE)) {
    stop("the package xgboost is not installed; ", ALLOWED, call. = FALSE)
  }
  columns <- 20
  rounds <- 50
  all_rows <- rows + rows %/% 5
  x <- matrix(stats::rnorm(all_rows * columns), all_rows)
  y <- as.numeric(x[, 1] * x[, 2] + sin(2 * x[, 3]) + 0.3 * rowSums(x[, 4:8]) + 0.3 * stats::rlogis(all_rows) > 0)
  train <- function(rounds, ...) {
    data <- xgboost::xgb.DMatrix(x[seq_len(rows), ], label = y[seq_len(rows)])
    xgboost::xgb.train(list(objective = "binary:logistic", verbosity = 0, ...), data, rounds, verbose = 0)
  }

  info <- build_info()
  where <- if ("cuda" %in% info$backends) paste("on", info$devices$name[1]) else paste("on the CPU:", info$why_no_cuda)
  cat(sprintf("xgboost %s with xgboostgpu %s, %s\n", utils::packageVersion("xgboost"), info$version, where))
  cat(sprintf("%s rows of %d columns, %d rounds\n\n", format(rows, big.mark = ",", scientific = FALSE), columns, rounds))
  cat(sprintf("%-10s%9s%10s\n", "", "seconds", "accuracy"))
  models <- list()
  for (method in c("hist", "gpu_hist")) {
    train(1, tree_method = method)  # starts threads and the GPU
    seconds <- system.time(models[[method]] <- train(rounds, tree_method = method))[["elapsed"]]
    right <- (stats::predict(models[[method]], x[-seq_len(rows), ]) > 0.5) == y[-seq_len(rows)]
    cat(sprintf("%-10s%9.2f%10s\n", method, seconds, sub("^0", "", sprintf("%.4f", mean(right)))))
  }

  on_one_thread <- train(rounds, tree_method = "gpu_hist", gpu_backend = "host", nthread = 1)
  if (!identical(xgboost::xgb.save.raw(on_one_thread), xgboost::xgb.save.raw(models$gpu_hist))) {
    stop("gpu_hist made another model with gpu_backend=host and one thread", call. = FALSE)
  }
  cat("\nThe model of gpu_hist has the same bits with gpu_backend=host and one thread.\n")
}
