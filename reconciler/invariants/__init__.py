"""What must never be done: a second check between deciding and doing.

The rooms follow these rules, each in its own way. Here they are checked again by code that shares
only the counting of machines with the rooms, so that a mistake in a room ends in an alert and not
in a bill or a lost workload. The checks are few and cheap, and look only at what is about to be
done.
"""
