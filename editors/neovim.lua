-- tt-layout in Neovim (0.7 and later): load it from init.lua, with dofile or as a plugin file.
-- The command may be set before: vim.g.tt_layout_command = { "python3", "-m", "tt_layout", "lsp" }

local hints = vim.api.nvim_create_namespace("tt-layout")

-- Neovim shows inlay hints itself from 0.10 on; before, they stand behind the lines as here.
local function show_hints(buffer)
  local last = vim.api.nvim_buf_line_count(buffer)
  local params = {
    textDocument = vim.lsp.util.make_text_document_params(buffer),
    range = { start = { line = 0, character = 0 }, ["end"] = { line = last, character = 0 } },
  }
  vim.lsp.buf_request(buffer, "textDocument/inlayHint", params, function(failure, found)
    if failure or not found or not vim.api.nvim_buf_is_loaded(buffer) then
      return
    end
    vim.api.nvim_buf_clear_namespace(buffer, hints, 0, -1)
    for _, hint in ipairs(found) do
      if hint.position.line < vim.api.nvim_buf_line_count(buffer) then
        vim.api.nvim_buf_set_extmark(buffer, hints, hint.position.line, 0, {
          virt_text = { { "  " .. hint.label, "Comment" } },
          virt_text_pos = "eol",
        })
      end
    end
  end)
end

local function attached(client, buffer)
  local function map(keys, action)
    vim.keymap.set("n", keys, action, { buffer = buffer })
  end
  map("K", vim.lsp.buf.hover)
  map("gd", vim.lsp.buf.definition)
  map("gr", vim.lsp.buf.references)
  map("ga", vim.lsp.buf.code_action)
  if vim.lsp.inlay_hint then
    vim.lsp.inlay_hint.enable(true, { bufnr = buffer })
  end
end

-- Findings come when the text has been read: then the hints are new, too.
local function found(failure, result, context, config)
  vim.lsp.diagnostic.on_publish_diagnostics(failure, result, context, config)
  local buffer = vim.uri_to_bufnr(result.uri)
  if not vim.lsp.inlay_hint and vim.api.nvim_buf_is_loaded(buffer) then
    show_hints(buffer)
  end
end

local server -- one for all dumps

local function start(buffer)
  vim.bo[buffer].filetype = "mlir"
  if not (server and vim.lsp.get_client_by_id(server)) then
    server = vim.lsp.start_client({
      name = "tt-layout",
      cmd = vim.g.tt_layout_command or { "tt-layout", "lsp" },
      root_dir = vim.fn.getcwd(),
      on_attach = attached,
      handlers = { ["textDocument/publishDiagnostics"] = found },
    })
  end
  if server then
    vim.lsp.buf_attach_client(buffer, server)
  end
end

vim.api.nvim_create_autocmd({ "BufRead", "BufNewFile" }, {
  pattern = { "*.ttgir", "*.ttir", "*.mlir" },
  callback = function(event)
    start(event.buf)
  end,
})
