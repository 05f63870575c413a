"""The user data that makes a server join as a node; growth renders all of it.

It avoids common mistakes: a node has the name of its server, has its pool's labels and taints when
it joins, and joins with a token of its own.
"""
