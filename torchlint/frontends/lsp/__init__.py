"""The pieces of the language server; `torchlint.frontends.server` puts them together."""
