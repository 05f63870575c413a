"""The policy `Desired`: a pool has a desired number of nodes, within a minimum and a maximum.

Pending pods raise the number, and nodes whose measured use is low lower it again. Each rule of the
policy is a module here: counts, cooldowns, the choice of a server type, measured use, the order in
which nodes go, and the checks that hold a node back.
"""
