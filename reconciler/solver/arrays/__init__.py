"""Problems as arrays, made smaller where that doesn't change the answer or keeps the bound true."""
