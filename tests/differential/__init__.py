"""Our rules of scheduling against the real kube-scheduler, on generated clusters."""
