for (group in names(properties)) {
  for (sentence in names(properties[[group]])) {
    test_that(sentence, {
      for (seed in 1:4) {
        case <- random_case(seed)
        expect_true(properties[[group]][[sentence]](case), info = paste(sentence, "seed", seed))
      }
    })
  }
}
