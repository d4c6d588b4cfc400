-- Does what a person does in a dump, and writes what is seen to the file $SEEN as JSON.
vim.o.columns, vim.o.lines = 160, 50
vim.o.wrap = false
local seen = {}

local function wait_for(what, test)
  if not vim.wait(30000, test, 20) then
    error("nothing came: " .. what)
  end
end

local function screen()
  vim.cmd("redraw!")
  local lines = {}
  for row = 1, vim.o.lines do
    local cells = {}
    for column = 1, vim.o.columns do
      cells[column] = vim.fn.screenstring(row, column)
    end
    lines[row] = (table.concat(cells):gsub("%s+$", ""))
  end
  return table.concat(lines, "\n")
end

local function go_to(text)
  vim.fn.cursor(1, 1)
  if vim.fn.search("\\V" .. text) == 0 then
    error("not there: " .. text)
  end
end

local function script()
  wait_for("diagnostics", function() return #vim.diagnostic.get(0) > 0 end)
  seen.diagnostics = vim.tbl_map(function(one)
    return { line = one.lnum, message = one.message, code = one.code or vim.NIL }
  end, vim.diagnostic.get(0))

  local hints = vim.api.nvim_get_namespaces()["tt-layout"]
  local function marks() return vim.api.nvim_buf_get_extmarks(0, hints, 0, -1, { details = true }) end
  wait_for("hints", function() return #marks() > 0 end)
  seen.hints = vim.tbl_map(function(mark) return mark[4].virt_text[1][1] end, marks())

  go_to("ttg.convert_layout")
  seen.first_screen = screen()
  local before = #vim.api.nvim_list_wins()
  vim.lsp.buf.hover()
  wait_for("hover", function() return #vim.api.nvim_list_wins() > before end)
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= "" then
      local lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false)
      seen.hover = table.concat(lines, "\n")
    end
  end
  seen.hover_screen = screen()
  vim.cmd("doautocmd CursorMoved")

  go_to("#b>")
  vim.lsp.buf.definition()
  wait_for("definition", function() return vim.fn.line(".") == 2 end)
  seen.definition = vim.fn.getline(".")

  go_to("ttg.convert_layout")
  vim.ui.select = function(items, options, choose)
    seen.actions = vim.tbl_map(function(item) return options.format_item(item) end, items)
    choose(items[1], 1)
  end
  local text = vim.api.nvim_buf_get_lines(0, 0, -1, false)
  vim.lsp.buf.code_action()
  wait_for("the action", function()
    return not vim.deep_equal(text, vim.api.nvim_buf_get_lines(0, 0, -1, false))
  end)
  seen.text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n")
  wait_for("no diagnostics", function() return #vim.diagnostic.get(0) == 0 end)
  wait_for("no hints", function() return #marks() == 0 end)
  seen.last_screen = screen()
end

local is_done, failure = pcall(script)
seen.failure = is_done and vim.NIL or tostring(failure)
vim.fn.writefile({ vim.fn.json_encode(seen) }, vim.env.SEEN)
vim.cmd("qall!")
