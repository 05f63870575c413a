"""How decisions are carried out: the only writer."""
