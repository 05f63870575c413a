"""The admission webhook for pods: it adds their pool and its tolerations, and warns."""
