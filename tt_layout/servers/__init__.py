"""Servers that other programs talk to over a protocol: editors, and agents.

Each needs a package of its own (`tt-layout[lsp]`, `tt-layout[mcp]`), which nothing else imports.
"""
