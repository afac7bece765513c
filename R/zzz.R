# Done last, when all functions are there: those that work on data tell of memory in our words, so
# that none of them has to see to that itself (R/memory.R).
for (name in Filter(is_worker, ls())) assign(name, guarded(get(name)))
rm(name)
