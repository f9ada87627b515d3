"""The documentation site: hooks of MkDocs, and checks of what it builds."""
