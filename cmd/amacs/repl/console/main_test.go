package console

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestMain is also the program that the terminal tests drive: the test binary
// run again with CONSOLE_LOG set to the file that receives its events.
func TestMain(m *testing.M) {
	if path := os.Getenv("CONSOLE_LOG"); path != "" {
		if err := play(path); err != nil {
			fmt.Fprintln(os.Stderr, "play:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// record is one event as the program logs it.
type record struct {
	Kind   string
	Text   string
	Pasted bool
}

type player struct {
	asking sync.WaitGroup
	c      *Console
	log    *os.File
	stop   chan struct{} // ends the stream
}

func play(path string) error {
	log, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	words := []string{"/threads", "/thread", "/quit", "grün-eins", "grün-zwei"}
	c, err := Open(Options{
		In: os.Stdin, Out: os.Stdout, Prompt: "amacs> ", History: os.Getenv("CONSOLE_HISTORY"), Color: true,
		Complete: func(string, int) []string { return words },
	})
	if err != nil {
		return err
	}
	defer c.Close()
	p := &player{c: c, log: log}
	p.write(record{Kind: "open", Text: fmt.Sprint(c.Interactive(), c.Width() > 0)})
	if c.Interactive() {
		c.Print("welcome")
	}
	for {
		c.Next()
		switch e := (<-c.Events()).(type) {
		case EOF:
			p.asking.Wait() // what was answered is in the log before the end
			p.write(record{Kind: "eof"})
			return nil
		case Interrupt:
			p.write(record{Kind: "interrupt", Text: e.Text})
			p.endStream()
		case Line:
			p.write(record{"line", e.Text, e.Pasted})
			p.obey(e.Text)
		}
	}
}

func (p *player) write(r record) {
	r.Text = strconv.Quote(r.Text) // JSON would mend what is not UTF-8
	line, err := json.Marshal(r)
	if err == nil {
		_, err = p.log.Write(append(line, '\n'))
	}
	if err != nil {
		panic(err)
	}
}

func (p *player) obey(line string) {
	switch verb, rest, _ := strings.Cut(line, " "); verb {
	case "/reply":
		p.c.Stream(rest)
		p.c.EndStream()
	case "/status":
		p.c.SetStatus(rest)
	case "/stream": // a word every 20 ms, for ten seconds at most
		p.stop = make(chan struct{})
		p.c.SetStatus("thinking")
		go stream(p.c, p.stop)
	case "/endstream":
		p.endStream()
	case "/ask":
		p.asking.Go(func() {
			r, err := p.c.Ask(context.Background(), "May I?", "ynA", "yes", "no", "always")
			p.write(record{Kind: "answer", Text: fmt.Sprintf("%c %v", max(r, '0'), err)})
		})
	case "/suspend":
		err := p.c.Suspend(func() error {
			cmd := exec.Command("sh", "-c", `stty -a | grep -o -- '-\?icanon'; read x; echo "child $x"`)
			cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
			return cmd.Run()
		})
		p.write(record{Kind: "resumed", Text: fmt.Sprint(err)})
	}
}

func stream(c *Console, stop chan struct{}) {
	defer c.SetStatus("")
	defer c.EndStream()
	for i := range 500 {
		select {
		case <-stop:
			return
		case <-time.After(20 * time.Millisecond):
			c.Stream(fmt.Sprintf("word%d 漢字 ", i))
		}
	}
}

func (p *player) endStream() {
	if p.stop != nil {
		close(p.stop)
		p.stop = nil
	}
}

// need skips a test that needs a program which is not installed; with CI=true
// it must be.
func need(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err == nil {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is not installed", program)
	}
	t.Skipf("%s is not installed", program)
}

// records reads the log until one of the kind comes that says what is wanted;
// it returns all up to that one.
func records(t *testing.T, path string, want func(record) bool) []record {
	t.Helper()
	var all []record
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		data, _ := os.ReadFile(path)
		all = all[:0]
		for line := range strings.Lines(string(data)) {
			var r record
			if json.Unmarshal([]byte(line), &r) != nil {
				break // half written
			}
			r.Text, _ = strconv.Unquote(r.Text)
			all = append(all, r)
			if want(r) {
				return all
			}
		}
	}
	t.Fatalf("the event did not come; there are %d: %.2000v", len(all), all)
	return nil
}

// is wants one record, exactly.
func is(want record) func(record) bool { return func(r record) bool { return r == want } }

func line(text string) func(record) bool { return is(record{Kind: "line", Text: text}) }

func kindIs(kind string) func(record) bool { return func(r record) bool { return r.Kind == kind } }
