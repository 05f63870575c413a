"""`growth doctor --prove`: one machine is bought, a pod is bound to it, and it is given back.

What examinations conclude from objects is done here once for real, step by step and timed. All that
is made is one small pod; growth buys the machine for it, as for any pod, and gives it back when the
pod is gone. So a proof that ends early leaves nothing that needs a person either.
"""
