package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"time"
)

// versionTime is how long a CLI may take to say its version.
const versionTime = 6 * time.Second

// Found is a CLI that is here.
type Found struct {
	Entry   Entry
	Path    string
	Version string   // "2.1.197"; "" = it did not say
	Can     []string // what its entry makes use of: "stream", "continue", "system prompt", …
	Problem string   // why it can not be used, or what is odd; "" = nothing
}

// Find looks for the programs of entries, and asks each for its version, all at
// once. env is the environment they are asked in, nil = this process's;
// lookPath nil = [exec.LookPath]. The order is that of entries.
func Find(ctx context.Context, entries []Entry, env []string, lookPath func(string) (string, error)) []Found {
	if lookPath == nil {
		lookPath = exec.LookPath
	}
	if env == nil {
		env = os.Environ()
	}
	var found []Found
	for _, e := range entries {
		if err := e.check(); err != nil {
			found = append(found, Found{Entry: e, Problem: err.Error()})
		} else if path, err := lookPath(e.Command[0]); err == nil {
			found = append(found, Found{Entry: e, Path: path, Can: e.can()})
		} else if !errors.Is(err, exec.ErrNotFound) {
			found = append(found, Found{Entry: e, Problem: err.Error()})
		}
	}
	var asked sync.WaitGroup
	for i := range found {
		if f := &found[i]; f.Problem == "" {
			asked.Go(func() {
				version, err := f.Entry.version(ctx, f.Path, env)
				if f.Version = version; err != nil {
					f.Problem = "it did not say its version: " + err.Error()
				}
			})
		}
	}
	asked.Wait()
	return found
}

var versionNumber = regexp.MustCompile(`\d+\.\d+(?:\.\d+)?(?:[-+.][0-9A-Za-z.-]+)?`)

// version asks the program at path for its version.
func (e Entry) version(ctx context.Context, path string, env []string) (string, error) {
	ask := e.Version
	if len(ask) == 0 {
		ask = []string{"--version"}
	}
	ctx, cancel := context.WithTimeout(ctx, versionTime)
	defer cancel()
	plain := Entry{Name: e.Name, Command: append(e.Command[:1:1], ask...), Billing: e.Billing, Scrub: e.Scrub}
	r, err := plain.run(ctx, path, Job{Env: env}, nil)
	text := r.Text
	var failed *Error
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return "", fmt.Errorf("no answer within %s", versionTime)
	case errors.As(err, &failed) && strings.HasPrefix(failed.Err.Error(), noAnswer):
		text = failed.Result.Stderr // some say it there
	default:
		return "", errors.Unwrap(err)
	}
	if number := versionNumber.FindString(text); number != "" {
		return number, nil
	}
	line, _, _ := strings.Cut(text, "\n")
	return brief(line), nil
}

// can lists what an entry makes use of, for people.
func (e Entry) can() (can []string) {
	for _, c := range []struct {
		able bool
		word string
	}{
		{e.Output.Delta != "", "stream"},
		{len(e.Continue) > 0 && e.Output.Session != "", "continue"},
		{e.takesSystem(), "system prompt"},
		{len(e.Model) > 0, "model"},
		{len(e.NoTools)+len(e.NoToolsEnv) > 0, "no tools"},
		{len(e.Budget) > 0, "budget"},
		{len(e.Schema) > 0, "schema"},
		{e.Output.Cost != "", "cost"},
		{e.Output.In != "", "tokens"},
	} {
		if c.able {
			can = append(can, c.word)
		}
	}
	return can
}
