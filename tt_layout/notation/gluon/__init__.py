"""Classes of Gluon: their text, what they are called with, and the attributes that they make."""
