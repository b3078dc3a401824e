"""How much of what was found is worth its tokens: a small policy over the channels of `pruned`
(AutoPrunedRetriever, section 2.8), its default, and its training."""
