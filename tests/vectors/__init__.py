"""Reference rows of the systems that growth follows, run through the product's own functions.

`python -m tests.vectors` runs them. Each kind of row has one adapter, in the folder `adapters`: a
few lines that turn a row's input into a call and the answer into the row's words.
"""
