library(testthat)
library(xgboostgpu)

test_check("xgboostgpu")
