"""What makes a server a node: its user data, rendered whole by growth.

The traps that users fall into elsewhere are closed here: a node is named as its server, carries its
pool's labels and taints from its first second, and joins with a secret of its own.
"""
