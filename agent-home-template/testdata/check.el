;;; check.el --- what Emacs thinks of a new home -*- lexical-binding: t -*-
;; Prints a line for each thing that is wrong, then "fields: " and the keys of consciousness.el.

(require 'org)
(require 'org-lint)

(defun check-forms (file)
  "Read every form of FILE; return the forms, or print the error."
  (with-temp-buffer
    (insert-file-contents file)
    (let (forms)
      (condition-case err
          (while (progn (while (forward-comment 1)) (not (eobp)))
            (push (read (current-buffer)) forms))
        (error (princ (format "%s: %s: %s\n" file (error-message-string err) (buffer-string)))))
      (nreverse forms))))

(defun check-org (file)
  "Print what org-lint has to say about FILE, and its headings."
  (with-current-buffer (find-file-noselect file)
    (unless (eq (coding-system-base buffer-file-coding-system) 'utf-8)
      (princ (format "%s: coding %s\n" file buffer-file-coding-system)))
    (dolist (report (org-lint))
      (princ (format "%s: %s\n" file (aref (cadr report) 2))))
    (org-map-entries (lambda () (princ (format "%s: a heading at %d\n" file (point)))))))

(defun check-home (dir)
  "Check the new home in DIR, with examples of Lisp in files named form-*."
  (dolist (file (directory-files dir t "\\`form-")) (check-forms file))
  (dolist (file (directory-files dir t "\\.org\\'")) (check-org file))
  (let ((forms (check-forms (expand-file-name "consciousness.el" dir))))
    (unless (and (= (length forms) 1) (eq (car-safe (car forms)) 'quote))
      (princ "consciousness.el: not one quoted form\n"))
    (princ (format "fields: %s\n" (mapconcat (lambda (pair) (symbol-name (car pair))) (cadr (car forms)) " ")))))
