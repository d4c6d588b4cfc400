"""Protocol servers for editors and agents.

Each needs a package of its own (`tt-layout[lsp]`, `tt-layout[mcp]`), which nothing else imports.
"""
