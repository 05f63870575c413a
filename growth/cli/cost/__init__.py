"""`growth cost`: what pools and workloads cost."""
