;;; check.el --- what real Emacs sees in Org files  -*- lexical-binding: t -*-

;; emacs -Q --batch -l check.el -f amacs-check FILE...
;;     prints a JSON array, one object a file: file, coding, locals (does it set local variables), headings, lint.
;; emacs -Q --batch -l check.el -f amacs-check-agenda YYYY-MM-DD FILE...
;;     prints a JSON object: agenda (lines of that day and what is overdue), clock (minutes), ran (diary sexps
;;     that call amacs-ran).

(require 'org)
(require 'org-element)
(require 'org-lint)
(require 'org-agenda)
(require 'org-clock)
(require 'json)

(setq locale-coding-system 'utf-8
      make-backup-files nil
      create-lockfiles nil
      enable-local-variables nil
      org-inhibit-startup t
      gc-cons-threshold 100000000)

(defun amacs--vector (list) (apply #'vector list))

(defun amacs--stamp (stamp)
  (if stamp (org-element-property :raw-value stamp) ""))

(defun amacs--kinds (section)
  "Types of all that stands in SECTION, links with their type."
  (let (kinds)
    (org-element-map section (append org-element-all-elements org-element-all-objects)
      (lambda (e)
        (let ((type (symbol-name (org-element-type e))))
          (cl-pushnew (if (equal type "link")
                          (concat "link:" (org-element-property :type e))
                        type)
                      kinds :test #'equal))))
    (sort (remove "section" kinds) #'string<)))

(defun amacs--props (section)
  (let ((drawer (cl-find-if (lambda (e) (eq (org-element-type e) 'property-drawer))
                            (org-element-contents section))))
    (org-element-map drawer 'node-property
      (lambda (p)
        (vector (org-element-property :key p) (or (org-element-property :value p) ""))))))

(defun amacs--heading (h)
  (let ((section (cl-find-if (lambda (e) (eq (org-element-type e) 'section))
                             (org-element-contents h)))
        (priority (org-element-property :priority h)))
    `((line . ,(line-number-at-pos (org-element-property :begin h)))
      (level . ,(org-element-property :level h))
      (state . ,(or (org-element-property :todo-keyword h) ""))
      (priority . ,(if priority (char-to-string priority) ""))
      (comment . ,(if (org-element-property :commentedp h) t :json-false))
      (title . ,(org-element-property :raw-value h))
      (tags . ,(amacs--vector (remove "" (org-element-property :tags h))))
      (scheduled . ,(amacs--stamp (org-element-property :scheduled h)))
      (deadline . ,(amacs--stamp (org-element-property :deadline h)))
      (closed . ,(amacs--stamp (org-element-property :closed h)))
      (props . ,(amacs--vector (amacs--props section)))
      (kinds . ,(amacs--vector (append (amacs--kinds section)
                                       (mapcar (lambda (k) (concat "title:" k))
                                               (amacs--kinds (org-element-property :title h)))))))))

(defun amacs--lint ()
  (mapcar (lambda (report)
            (let ((r (cadr report)))
              `((line . ,(string-to-number (aref r 0))) (text . ,(aref r 2)))))
          (org-lint--generate-reports (current-buffer) org-lint--checkers)))

(defun amacs--file (file)
  (with-temp-buffer
    (insert-file-contents file)
    (let ((default-directory (file-name-directory (expand-file-name file)))
          (locals (condition-case nil (hack-local-variables--find-variables) (error t))))
      (org-mode)
      `((file . ,file)
        (coding . ,(symbol-name (or last-coding-system-used 'undecided)))
        (locals . ,(if locals t :json-false))
        (headings . ,(amacs--vector (org-element-map (org-element-parse-buffer) 'headline #'amacs--heading)))
        (lint . ,(amacs--vector (amacs--lint)))))))

(defun amacs-check ()
  (let ((files command-line-args-left))
    (setq command-line-args-left nil)
    (princ (json-encode (amacs--vector (mapcar #'amacs--file files))))))

(defvar amacs--ran 0)
(defun amacs-ran () (setq amacs--ran (1+ amacs--ran)) nil)

(defun amacs-check-agenda ()
  (let ((date (car command-line-args-left))
        (org-agenda-files (mapcar #'expand-file-name (cdr command-line-args-left)))
        (org-agenda-include-diary nil)
        (org-agenda-use-time-grid nil)
        (minutes 0)
        lines)
    (setq command-line-args-left nil)
    (let ((inhibit-message t))
      (org-agenda-list nil date 1))
    (with-current-buffer "*Org Agenda*"
      (setq lines (cddr (split-string (buffer-substring-no-properties (point-min) (point-max)) "\n" t))))
    (dolist (file org-agenda-files)
      (with-current-buffer (find-file-noselect file)
        (org-clock-sum)
        (setq minutes (+ minutes (or org-clock-file-total-minutes 0)))))
    (princ (json-encode `((agenda . ,(amacs--vector lines)) (clock . ,minutes) (ran . ,amacs--ran))))))
