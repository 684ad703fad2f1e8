-- What a user does, for tests/test_neovim.py: wait for problems, take the first quick fix for a code, save.
-- Answers with one line of JSON on stderr, where headless Neovim prints.
local code = vim.env.TORCHLINT_CODE
local patience = 100000

local function problems()
  return vim.tbl_filter(function(diagnostic)
    return diagnostic.code == code or vim.tbl_get(diagnostic, 'user_data', 'lsp', 'code') == code
  end, vim.diagnostic.get(0))
end

local arrived = vim.wait(patience, function()
  return #problems() > 0
end, 50)
local answer = { arrived = arrived, seen = problems(), offered = {} }

if arrived then
  vim.api.nvim_win_set_cursor(0, { answer.seen[1].lnum + 1, answer.seen[1].col })
  local before = vim.api.nvim_buf_get_changedtick(0)
  vim.ui.select = function(actions, _, choose)
    for _, item in ipairs(actions) do
      table.insert(answer.offered, (item.action or item[2]).title)  -- 0.7 has pairs
    end
    choose(actions[1])
  end
  vim.lsp.buf.code_action()
  vim.wait(patience, function()
    return vim.api.nvim_buf_get_changedtick(0) ~= before
  end, 50)
  vim.cmd('silent write')
  answer.gone = vim.wait(patience, function()
    return #problems() == 0
  end, 50)
end

io.stderr:write('\n' .. vim.json.encode(answer) .. '\n')
vim.cmd('quitall!')
