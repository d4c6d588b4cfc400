;;; emacs.el --- tt-layout in Emacs -*- lexical-binding: t -*-

;; Load it from the init file, open a dump, and start M-x eglot.  Eglot is part of Emacs 29; before,
;; it is a package.

;;; Code:

(define-derived-mode tt-layout-mode prog-mode "MLIR"
  "Dumps of Triton kernels."
  (setq-local comment-start "// "))

(add-to-list 'auto-mode-alist '("\\.\\(?:ttgir\\|ttir\\|mlir\\)\\'" . tt-layout-mode))

(defvar eglot-server-programs)
(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '(tt-layout-mode . ("tt-layout" "lsp"))))

(provide 'tt-layout)
;;; emacs.el ends here
