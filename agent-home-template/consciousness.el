;;; consciousness.el -*- coding: utf-8; mode: emacs-lisp -*-
;; The working state of this agent: one quoted alist. Edit it at any time; comments and fields of your own stay.
;; The fields marked "derived" are computed anew at every tick, and an edit of them is ignored.
'((identity . "amacs-1")

  ;; time (derived)
  (current-tick . 0)
  (current-time . nil)
  (long-gap . nil)                ; seconds since the tick before, when more than an hour

  ;; how it feels
  (mood . "awakening")
  (confidence . 0.5)              ; 0 to 1

  ;; lines of work: at most three open, one of them active
  (active-thread . nil)
  (open-threads . ())
  (pending-threads . ())          ; derived: those that are not active
  (completed-threads . ())        ; the last ten

  ;; what became of the last eval (derived)
  (last-eval-result . nil)

  ;; money, in USD (derived)
  (budget .
   ((cost-so-far . 0.0)
    (budget-limit . nil)
    (pressure . low)))

  ;; how much of its past it sees
  (chat-context-depth . 5)        ; exchanges
  (monologue-context-depth . 20)  ; lines
  (global-scratchpad-depth . 5)   ; notes
  (thread-scratchpad-depth . 10)  ; notes
  (buffer-content-limit . 10000)  ; characters of each buffer
  (buffer-line-numbers . nil)     ; whether their lines are numbered
  (autonomous-tick-limit . 10)    ; ticks in a row without the human

  ;; how the model is asked, and which one (nil: the configured one); a number out of its range is brought into it
  (api-settings .
   ((temperature . 1.0)           ; 0 to 2
    (top-p . 1.0)                 ; 0 to 1
    (top-k . nil)                 ; 1 to 1000; nil: not set
    (thinking . nil)              ; t: think before the answer
    (max-tokens . 8192)           ; 1 to 32768, of an answer
    (model . nil))))
