"""The six kinds as pydantic models, and the definitions generated from them. Pure: no I/O.

A kind lives in the module of its name, its cross-field rules beside it; `kinds` knows all of them,
`problems` reads documents strictly, `crd` and `reference` print what the models say.
"""
