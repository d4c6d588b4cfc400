"""What each kind of operation of a module costs; `costs` is the table of all."""
