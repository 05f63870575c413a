"""The front process: it answers everyone but the scheduler.

Metrics, health and the demand stream can be reached from other machines. However often they are
asked, the scheduler must not wait for it, and threads of one interpreter wait for each other. So
the process that answers the scheduler starts a second one for them, and tells it through a pipe
what it needs. Nothing flows back but one byte at the start, and nothing waits for the front
(docs/designs/0010-a-front-for-all-others.md).

In the process of the scheduler's calls: `keeping` starts the front and replaces it when it ends,
`telling` writes to it. In the front: `hearing` reads, `mirror` and `view` are what it knows,
`__main__` serves it.
"""
