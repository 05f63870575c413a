"""Which node is replaced by which: cheaper ones, those made as the pool says now, healthy ones."""
