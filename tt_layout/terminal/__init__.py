"""What a terminal gets beyond the plain text: colours, coordinates, a legend, a fit to its width.

The plain text stays what it is, byte for byte; everything here is put around and into it while
it streams by.

    wish      what was asked for, and whether colours are to be used
    groups    the number by which a place is coloured: its warp, lane, bank, ...
    painting  colours in a stream of text
    fitting   the columns that fit the terminal
    folding   headings and other lines of words, broken where a reader would
    margins   a header row and column of coordinates
    compact   thread numbers only
    present   all of them together
"""
