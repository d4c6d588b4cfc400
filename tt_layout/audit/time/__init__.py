"""How long a kernel takes: the latency of one program, and the time of a launch.

A kernel is read into steps (`program`), each of which has demands on the pipes of a multiprocessor
(`demands`); a walk over their dependences gives the cycles that one program takes alone (`walk`);
waves of programs, memory and spills make the time of a launch of it (`launch`), with the range in
which kernels lay that the constants had not seen (`estimate`).
"""
