"""Problems, plans and renewals as data, and what is worked out before and after the search."""
