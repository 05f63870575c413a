"""`growth doctor --prove`: buy one machine, bind a pod to it, and give it back.

The other checks draw conclusions from objects; this one does the real thing once, step by step and
timed. It creates only one small pod. growth buys the machine for it, as for any pod, and removes it
when the pod is gone. So a proof that ends early leaves nothing behind that needs a person.
"""
