;;; authinfo.el --- what auth-source finds in files  -*- lexical-binding: t -*-

(require 'auth-source)
(require 'json)

(defun amacs-authinfo ()
  "Print what each file finds for each host: HOSTS, with commas, then FILE…"
  (let ((hosts (split-string (pop command-line-args-left) ","))
        (auth-source-do-cache nil)
        all)
    (dolist (file command-line-args-left)
      (let ((auth-sources (list (list :source file))) found)
        (dolist (host hosts)
          (dolist (e (auth-source-search :host host :max 1000))
            (let ((secret (plist-get e :secret)))
              (push (list host
                          (or (plist-get e :port) "")
                          (or (plist-get e :user) "")
                          (if secret (funcall secret) ""))
                    found))))
        (push (vconcat (nreverse found)) all)))
    (princ (json-encode (vconcat (nreverse all))))))
