"""What must never be done, looked at once more between deciding and doing.

The rooms keep these rules each in its own way. Here they are asked for a second time, by code that
shares none of theirs but the counting of machines, so that a mistake in a room ends in an alert and
not in a bill or a lost workload. They are few and cheap, and look only at what is about to be done.
"""
