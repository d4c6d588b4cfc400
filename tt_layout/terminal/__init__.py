"""Extras of a terminal over the plain text: colours, coordinates, a legend, a fit to its width.

The plain text stays what it is, byte for byte; everything here is put around and into it while
it streams by.

    options   how views are displayed, and whether colours are to be used
    margins   a header row and column of coordinates
    present   fitted to the width, compact, coloured, all of them together

Nothing here reads the text of a view: the view itself knows where each cell stands in it, what
it shows and under which coordinates (`tt_layout.views.view`).
"""
