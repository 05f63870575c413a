"""`growth scheduler-config`: the configuration with which kube-scheduler calls growth."""
