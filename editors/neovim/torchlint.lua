-- Neovim 0.11 or newer: this file is ~/.config/nvim/lsp/torchlint.lua; `vim.lsp.enable('torchlint')` in init.lua uses it.
return {
  cmd = { 'torchlint', 'server' },
  filetypes = { 'python' },
  root_markers = { 'torchlint.toml', 'pyproject.toml', '.git' },
}
