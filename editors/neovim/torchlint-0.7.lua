-- Neovim 0.7 to 0.10: for ~/.config/nvim/plugin/torchlint.lua. One server for each project.
local servers = {}

local function root_of(folder)
  for _, marker in ipairs({ 'torchlint.toml', 'pyproject.toml' }) do
    local found = vim.fn.findfile(marker, folder .. ';')
    if found ~= '' then
      return vim.fn.fnamemodify(found, ':p:h')
    end
  end
  return folder
end

vim.api.nvim_create_autocmd('FileType', {
  pattern = 'python',
  callback = function(event)
    local root = root_of(vim.fn.fnamemodify(vim.api.nvim_buf_get_name(event.buf), ':p:h'))
    servers[root] = servers[root] or vim.lsp.start_client({
      name = 'torchlint',
      cmd = { 'torchlint', 'server' },
      root_dir = root,
      on_exit = function()
        servers[root] = nil
      end,
    })
    if servers[root] then
      vim.lsp.buf_attach_client(event.buf, servers[root])
    end
  end,
})
