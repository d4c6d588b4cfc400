;;; -*- lexical-binding: t -*-
;; Opens dump.ttgir with Eglot; prints the findings and what is said of an operation.

(require 'eglot)
;; Beside other work the server takes more than the usual 30 seconds to begin.
(setq eglot-connect-timeout 300)
(load (expand-file-name "tt-layout.elc"))
(setq eglot-sync-connect 300)
(find-file "dump.ttgir")
(apply #'eglot (eglot--guess-contact))
(let ((end (+ (float-time) 60)))
  (while (and (< (float-time) end) (null (flymake-diagnostics)))
    (accept-process-output nil 0.1)
    (flymake-start)))
(dolist (one (flymake-diagnostics))
  (princ (format "%s\n" (flymake-diagnostic-text one))))
(search-forward "ttg.convert_layout")
(backward-char 3)
(princ (plist-get (plist-get (jsonrpc-request (eglot-current-server) :textDocument/hover
                                              (eglot--TextDocumentPositionParams))
                             :contents)
                  :value))
(eglot-shutdown (eglot-current-server))
