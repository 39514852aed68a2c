;;; comint.el --- talk to a console through comint  -*- lexical-binding: t -*-

;; emacs -Q --batch -l comint.el PROGRAM: waits for each prompt, types lines as
;; a person would, and prints the buffer.

(require 'comint)

(defvar program (pop command-line-args-left))

(defun wait-for (regexp)
  "Wait until the last line of the buffer matches REGEXP."
  (with-timeout (20 (princ (buffer-string)) (error "%s did not come" regexp))
    (while (not (save-excursion
                  (goto-char (point-max))
                  (forward-line 0)
                  (looking-at regexp)))
      (accept-process-output (get-buffer-process (current-buffer)) 0.1))))

(defun type (line)
  "Type LINE and RET."
  (goto-char (point-max))
  (insert line)
  (comint-send-input))

(with-current-buffer (make-comint "console" program)
  (wait-for "amacs> \\'")
  (type "/reply \e[31mgrüße\e[0m 漢字")
  (wait-for "amacs> \\'")
  (type "one\\")
  (wait-for "\\.\\.\\.> \\'")
  (type "two")
  (wait-for "amacs> \\'")
  (type "/ask")
  (wait-for "(y/n/always) \\'")
  (type "y")
  (wait-for "amacs> \\'")
  (comint-send-eof)
  (with-timeout (20 (error "The program did not end"))
    (while (process-live-p (get-buffer-process (current-buffer)))
      (accept-process-output nil 0.1)))
  (princ (buffer-substring-no-properties (point-min) (point-max))))
