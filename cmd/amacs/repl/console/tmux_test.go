package console

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// pane is the program of TestMain in a tmux of its own: a real terminal whose
// screen can be read.
type pane struct {
	t      *testing.T
	socket string
	log    string
}

func openPane(t *testing.T, columns, rows int) *pane {
	t.Helper()
	p := openTmux(t, columns, rows, `"$0"; echo status=$?; sleep 60`)
	p.see("amacs> $")
	return p
}

// openTmux runs a command of sh, in which $0 is the program.
func openTmux(t *testing.T, columns, rows int, command string) *pane {
	t.Helper()
	need(t, "tmux")
	dir, err := os.MkdirTemp("", "tmux") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	p := &pane{t: t, socket: filepath.Join(dir, "s"), log: filepath.Join(t.TempDir(), "log")}
	t.Cleanup(func() {
		_ = exec.Command("tmux", "-S", p.socket, "kill-server").Run()
		os.RemoveAll(dir)
	})
	p.tmux("-f", "/dev/null", "-u", "new-session", "-d", "-x", fmt.Sprint(columns), "-y", fmt.Sprint(rows),
		"env", "PS1=$ ", "CONSOLE_LOG="+p.log, "sh", "-c", command, os.Args[0])
	return p
}

func (p *pane) tmux(args ...string) string {
	p.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-S", p.socket}, args...)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "SHELL=/bin/sh")
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return string(out)
}

func (p *pane) keys(args ...string) { p.tmux(append([]string{"send-keys"}, args...)...) }
func (p *pane) typed(text string)   { p.keys("-l", text) }
func (p *pane) resize(columns int)  { p.tmux("resize-window", "-x", fmt.Sprint(columns)) }
func (p *pane) cursor() string      { return p.tmux("display-message", "-p", "#{cursor_x} #{cursor_y}") }
func (p *pane) screen() string      { return strings.TrimRight(p.tmux("capture-pane", "-p"), "\n") }
func (p *pane) everything() string {
	return strings.TrimRight(p.tmux("capture-pane", "-p", "-S", "-"), "\n")
}

// see waits until the screen matches a pattern.
func (p *pane) see(pattern string) {
	p.t.Helper()
	re := regexp.MustCompile(pattern)
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if re.MatchString(strings.TrimRight(p.tmux("capture-pane", "-pN"), "\n")) {
			return
		}
	}
	p.t.Fatalf("%s is not on the screen:\n%s", pattern, p.screen())
}

func (p *pane) paste(text string) {
	p.t.Helper()
	file := filepath.Join(p.t.TempDir(), "paste")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
	p.tmux("load-buffer", file)
	p.tmux("paste-buffer", "-p")
}

func (p *pane) wait(want func(record) bool) {
	p.t.Helper()
	records(p.t, p.log, want)
}

func TestTmuxPaste(t *testing.T) {
	p := openPane(t, 80, 24)
	forty := strings.Repeat("\tif x { return \"größe 漢字\" }\n", 40)
	p.typed("see: ")
	p.paste(forty)
	p.see(`amacs> see: \[paste #1, 40 lines\]$`)
	p.keys("Enter")
	p.wait(is(record{"line", "see: " + forty, true}))
	large := strings.Repeat(strings.Repeat("x", 99)+"\n", 2048)
	p.paste(large)
	p.see(`amacs> \[paste #2, 2048 lines\]$`)
	p.keys("Enter")
	p.wait(is(record{"line", large, true}))
	p.paste("one\n\ttwo\nthree")
	p.see(`amacs> one\n\.\.\.>     two\n\.\.\.> three$`)
	p.keys("BSpace", "Enter")
	p.wait(is(record{"line", "one\n\ttwo\nthre", true}))
	p.see(`\.\.\.> thre\n+amacs> $`)
}

func TestTmuxWideAndWrapped(t *testing.T) {
	p := openPane(t, 20, 10)
	wide := strings.Repeat("漢", 16)
	p.typed(wide)
	p.see(`amacs> 漢漢漢漢漢漢\n漢漢漢漢漢漢漢漢漢漢$`)
	p.keys("BSpace")
	p.see(`amacs> 漢漢漢漢漢漢\n漢漢漢漢漢漢漢漢漢$`)
	p.keys("Home", "Delete")
	p.typed("x")
	p.see(`amacs> x漢漢漢漢漢漢\n漢漢漢漢漢漢漢漢$`)
	if got := p.cursor(); got != "8 1\n" {
		t.Errorf("the cursor is at %q:\n%s", got, p.screen())
	}
	p.keys("End")
	p.typed("12345")
	p.see(`漢漢漢漢漢漢漢漢1234\n5$`)
	p.keys("BSpace")
	p.see(`漢漢漢漢漢漢漢漢1234$`)
	if got := p.cursor(); got != "0 3\n" {
		t.Errorf("after a full row the cursor is at %q:\n%s", got, p.screen())
	}
	p.keys("Enter")
	p.wait(line("x" + strings.Repeat("漢", 14) + "1234"))
	p.see(`(?s)^welcome\namacs> x漢{6}\n漢{8}1234\n+amacs> $`)
}

func TestTmuxResize(t *testing.T) {
	p := openPane(t, 60, 15)
	for range 20 { // near the top of the screen tmux pushes what it breaks out of sight
		p.keys("Enter")
	}
	text := "this line is typed before the window changes its width twice, 漢字"
	p.typed(text)
	p.see("漢字$")
	for _, columns := range []int{30, 75, 25, 100, 40} {
		p.resize(columns)
		p.see("漢字$")
		time.Sleep(300 * time.Millisecond)
		if n := strings.Count(p.everything(), "amacs> this"); n != 1 {
			t.Fatalf("at %d columns there are %d prompts:\n%s", columns, n, p.everything())
		}
	}
	p.typed("!")
	p.keys("Enter")
	p.wait(line(text + "!"))
}

func TestTmuxStreamOverTyping(t *testing.T) {
	p := openPane(t, 40, 12)
	p.typed("/stream")
	p.keys("Enter")
	p.see(`word\d+ `)
	p.typed("half a line, longer than one row 漢字")
	for range 10 {
		p.see(`\namacs \(thinking\)> half a line, longer th\nan one row 漢字$`)
		time.Sleep(30 * time.Millisecond)
	}
	p.resize(50)
	p.typed(" of it")
	p.keys("C-c")
	p.see(`\n\namacs> half a line, longer than one row 漢字 of\n? it$`)
	p.keys("Enter")
	p.wait(line("half a line, longer than one row 漢字 of it"))

	// Each word of the stream came once and whole.
	words := regexp.MustCompile(`word\d+ 漢字`).FindAllString(strings.ReplaceAll(p.everything(), "\n", " "), -1)
	for i, w := range words {
		if w != fmt.Sprintf("word%d 漢字", i) {
			t.Fatalf("word %d is %q:\n%s", i, w, p.everything())
		}
	}
	if n := strings.Count(p.everything(), "amacs "); n > 1 || len(words) < 10 {
		t.Errorf("%d prompts, %d words:\n%s", n, len(words), p.everything())
	}
}

func TestTmuxReply(t *testing.T) {
	p := openPane(t, 40, 15)
	p.typed("/reply Looking at main.rs line 45, the issue is that a reference is returned")
	p.keys("Enter")
	p.see(`retur\nned\n\nLooking at main.rs line 45, the issue is\nthat a reference is returned\n\namacs> $`)
}

func TestTmuxSearchAndKeys(t *testing.T) {
	p := openPane(t, 60, 15)
	for _, s := range []string{"alpha needle", "beta"} {
		p.typed(s)
		p.keys("Enter")
		p.wait(line(s))
	}
	p.keys("C-r")
	p.typed("need")
	p.see(`\(search 'need'\)> alpha needle$`)
	p.typed("x")
	p.see(`\(no 'needx'\)> alpha needle$`)
	p.keys("BSpace", "Right")
	p.see(`amacs> alpha needle$`)
	p.keys("C-Left")
	p.typed("<")
	p.keys("Home")
	p.typed(">")
	p.keys("C-l")
	p.see(`^amacs> >alpha <needle$`)
	p.keys("C-z") // nobody to go to: nothing happens
	p.keys("Enter")
	p.wait(line(">alpha <needle"))
	p.typed("gr")
	p.keys("Tab", "Tab")
	p.see(`grün-eins  grün-zwei\namacs> grün-$`)
	p.keys("C-c", "C-d")
	p.see(`status=0`)
}

func TestTmuxTallMessage(t *testing.T) {
	p := openPane(t, 40, 6)
	for i := range 9 {
		p.paste(fmt.Sprintf("row %d\n", i))
	}
	p.see(`\.\.\.> row 8\n\.\.\.> $`)
	p.keys("Home")
	p.typed("x")
	p.see(`^amacs> xrow 0\n`)
	p.keys("End", "Enter")
	p.wait(func(r record) bool { return strings.Count(r.Text, "\n") == 9 })
	p.see(`amacs> $`)
	if all := p.everything(); strings.Count(all, "row 8") != 1 || strings.Count(all, "row 5") != 1 {
		t.Errorf("a row is missing or doubled:\n%s", all)
	}
}

func TestTmuxStop(t *testing.T) {
	need(t, "bash")
	p := openTmux(t, 60, 20, `PROGRAM="$0" exec bash --norc -i`)
	p.see(`\$ $`)
	p.typed(`"$PROGRAM"; echo status=$?`)
	p.keys("Enter")
	p.see("amacs> $")
	p.typed("half")
	p.see("amacs> half$")
	p.keys("C-z")
	p.see(`(?s)Stopped.*\$ $`)
	p.typed("stty -a | tr ' ' '\\n' | grep icanon")
	p.keys("Enter")
	p.see(`\nicanon\n`)
	p.typed("fg")
	p.keys("Enter")
	p.see(`\namacs> half$`)
	p.typed(" whole")
	p.keys("Enter")
	p.wait(line("half whole"))
	p.keys("C-d")
	p.wait(kindIs("eof"))
	p.see(`\n\$ $`)
}
