"""Views: the text of placed layouts, and the cells behind it.

A `View` is made by one of the functions that `kinds` lists.  Its size is known before its text;
its text and its cells come block by block, with whole-array operations, in the same order.

    kinds            the table of views
    distributed      views of registers, lanes, warps and blocks
    shared           views of offsets, blocks and partitions
    tensor_memory    views of rows, columns and blocks
    request          a placed layout, a kind of view, and the part to show
    printed, files   a view with its heading; all views of a dump

The parts of a view, from the inside out:

    text             numbers as arrays of ASCII bytes
    cells            the locations of each element, as numbers
    cell_text        the text of single cells, shared among rows of cells
    box, axes        the selected cells, row by row and page by page, with their coordinates
    frames           brackets, line ends and headers around the cells
    view             the text, with the position and the content of each cell
    groups           groups of cells with a colour each: warps, lanes, banks, ...
"""
