"""Takes reports over HTTP: who sends them, whether they can be used, and where they wait.

A report is checked and answered here, and judged later, in a pass: so one writer decides, and no
agent waits for the API server.
"""
