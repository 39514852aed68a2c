package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"amacs/cmd/amacs/repl"
	"amacs/cmd/amacs/repl/console"
	"amacs/harness/home"
	"amacs/harness/journal"
	"amacs/harness/ledger"
	"amacs/harness/provider"
)

// The exit codes, as the manual lists them.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitRefused     = 3
	exitNoModel     = 4
	exitHome        = 5 // home locked or damaged
	exitInterrupted = 130
)

// usageError marks words of a command that do not fit.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// exit says what went wrong, once, and gives the exit code.
func (a *app) exit(ctx context.Context, err error) int {
	if err == nil {
		return exitDone
	}
	code := exitCode(ctx, err)
	if code == exitInterrupted {
		fmt.Fprintln(a.err, "amacs: interrupted")
		return code
	}
	if a.json {
		b, _ := json.Marshal(map[string]any{"error": err.Error(), "exit": code})
		fmt.Fprintln(a.err, string(b))
		return code
	}
	fmt.Fprintln(a.err, "amacs: "+console.Clean(err.Error()))
	if code == exitUsage {
		fmt.Fprintln(a.err, "  `amacs help` lists the commands, `amacs help COMMAND` explains one")
	}
	return code
}

func exitCode(ctx context.Context, err error) int {
	var (
		usage   usageError
		notHome *home.NotHome
		damaged *home.Damaged
		refusal *journal.Refusal
		model   *provider.Error
		cap     *ledger.Exceeded
		setting *home.BadSetting
	)
	switch {
	case ctx.Err() != nil || errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &usage), errors.As(err, &setting):
		return exitUsage
	case errors.As(err, &cap), errors.Is(err, repl.ErrTooMany), errors.Is(err, errInside):
		return exitRefused
	case errors.As(err, &model):
		return exitNoModel
	case errors.As(err, &notHome), errors.As(err, &damaged), errors.As(err, &refusal),
		errors.Is(err, home.ErrBusy), errors.Is(err, journal.ErrBusy):
		return exitHome
	}
	return exitFailed
}
