"""`growth scheduler-config`: what makes kube-scheduler ask growth."""
