package tools

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// through reads what a program writes until it ends, and is the methods of the
// messages.
func through(t testing.TB, written []byte) (methods []string, p *pipe) {
	t.Helper()
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p = &pipe{}
	p.open(out, in)
	defer p.Close()
	var write io.WriteCloser = out
	go func() {
		write.Write(written) // the reader may give up before
		write.Close()
	}()
	for {
		msg, err := p.Read(t.Context())
		if err != nil {
			return methods, p
		}
		if r, ok := msg.(*jsonrpc.Request); ok {
			methods = append(methods, r.Method)
		}
	}
}

func TestPipe(t *testing.T) {
	t.Parallel()
	const m = `{"jsonrpc":"2.0","method":"%s"}`
	long := strings.Repeat("long", 50_000)
	for name, c := range map[string]struct{ written, methods, odd string }{
		"plain":      {fmt.Sprintf(m+"\n"+m+"\n", "a", "b"), "a b", ""},
		"CRLF":       {fmt.Sprintf(m+"\r\n\r\n"+m+"\r\n", "a", "b"), "a b", ""},
		"long":       {fmt.Sprintf(m+"\n"+m+"\n", long, "b"), long + " b", ""},
		"noise":      {fmt.Sprintf("hello\n"+m+"\n{}\n[]\n"+m+"\n", "a", "b"), "a b", "hello"},
		"half":       {fmt.Sprintf(m+"\n", "a") + `{"jsonrpc":"2.0","meth`, "a", ""},
		"much noise": {strings.Repeat("no message\n", 7000) + fmt.Sprintf(m+"\n", "a"), "", "no message"},
		"no noise":   {strings.Repeat("\n", 100_000) + fmt.Sprintf(m+"\n", "a"), "a", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			methods, p := through(t, []byte(c.written))
			if strings.Join(methods, " ") != c.methods || p.noise() != c.odd {
				t.Errorf("%d methods, noise %q", len(methods), p.noise())
			}
			if wrong, _ := p.fault(); (wrong != "") != (name == "much noise") {
				t.Errorf("fault %q", wrong)
			}
		})
	}
}

// Whatever is written between them, messages arrive, each once and in order.
func FuzzPipe(f *testing.F) {
	f.Add([]byte("hello"))
	f.Add([]byte("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":null}\n\x00\xff{[\"\r\n\n"))
	f.Fuzz(func(t *testing.T, noise []byte) {
		if len(noise) > mostNoise/4 || bytes.Contains(noise, []byte("method")) {
			return
		}
		var all []byte
		for _, name := range []string{"first", "second"} {
			all = append(append(all, noise...), "\n{\"jsonrpc\":\"2.0\",\"method\":\""+name+"\"}\n"...)
		}
		if methods, _ := through(t, all); strings.Join(methods, " ") != "first second" {
			t.Errorf("%q", methods)
		}
	})
}
