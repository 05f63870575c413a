"""What fits where: the scheduler's rules on small frozen structs, pure and exact."""
