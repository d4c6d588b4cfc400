"""Extras of a terminal over the plain text: colours, coordinates, a legend, a fit to its width.

The plain text stays what it is, byte for byte; everything here is put around and into it while
it streams by.

    options   how views are displayed, and whether colours are to be used
    painting  colours in a stream of text
    fitting   the parts of a view whose lines fit the terminal
    margins   a header row and column of coordinates
    compact   thread numbers only
    present   all of them together

Nothing here reads the text of a view: the view itself knows where each cell stands in it, what
it shows and under which coordinates (`tt_layout.views.view`).
"""
