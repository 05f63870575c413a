"""`growth doctor --prove`: one machine is bought, a pod is bound to it, and it is given back.

What the other checks conclude from objects is done here once for real, step by step and timed. It
creates only one small pod; growth buys the machine for it, as for any pod, and removes it when the
pod is gone. So a proof that ends early leaves nothing behind that needs a person.
"""
