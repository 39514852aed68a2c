// Command amacs runs an agent whose whole mind is a git repository of plain
// text. Without arguments it is the prompt; `amacs help` lists the rest.
//
// Each subcommand has a file of its own here; app.go wires them, exit.go maps
// what went wrong to an exit code. The same commands are the verbs of the
// prompt: `/log -p` runs what `amacs log -p` runs.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, nil)) }

// run is the whole program but for the process around it. step, if there is one,
// is told each step of a tick as it begins.
func run(args []string, in, out, errs *os.File, step func(string)) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() { <-signals; cancel() }()
	// Giving the signals back must not count as one: ctx stays alive.
	a := &app{in: in, out: out, err: errs, unsignal: func() { signal.Stop(signals) }, step: step, inside: os.Getenv("AMACS_INSIDE") != ""}
	defer a.close()
	// Whatever is started from here can tell: a shell's hooks must not take what
	// amacs does for what the human does.
	os.Setenv("AMACS_INSIDE", "1")
	root := a.command()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	return a.exit(ctx, err)
}
