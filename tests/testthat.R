library(testthat)
library(kernelect)

test_check("kernelect")
