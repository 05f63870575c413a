"""The first rule of every pass: whether growth may act at all."""
