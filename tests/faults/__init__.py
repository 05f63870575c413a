"""The fault kit: a proxy before the real API server, and the server's own death.

    async with fault_proxy(cluster.kubeconfig, folder=tmp_path) as proxy:
        ... connect(kubeconfig=proxy.kubeconfig) ...
        proxy.cut_watches()
        held = proxy.events.hold("pods", named("web-0"))

Faults are methods named by what happens on the wire; each acts at once, or on the next requests.
"""
