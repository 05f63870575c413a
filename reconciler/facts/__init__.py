"""Facts that several rules ask for, each in one place. Pure: a World in, an answer out."""
