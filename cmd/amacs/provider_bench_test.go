package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"amacs/harness/provider"
	"amacs/harness/provider/fake"
)

// BenchmarkProviderFirstCharacter is the time from when a service sends the first
// piece of a reply's text to when a terminal is given it.
func BenchmarkProviderFirstCharacter(b *testing.B) {
	for _, term := range []string{"xterm", "dumb"} {
		b.Run(term, func(b *testing.B) {
			w := newWorld(b)
			w.must("", "init")
			asked, speak, sent, seen := make(chan bool), make(chan string), make(chan time.Time), make(chan bool)
			server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				out.Header().Set("Content-Type", "text/event-stream")
				say := func(text string) {
					fmt.Fprintf(out, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", text)
					_ = http.NewResponseController(out).Flush()
				}
				say(begun)
				asked <- true
				text := <-speak
				at := time.Now()
				say(text)
				sent <- at
				<-seen
				say(`"}`)
				fmt.Fprint(out, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
			}))
			defer server.Close()
			c := w.command("", "--provider", "openai", "--model", "small", "--base-url", server.URL+"/v1")
			c.Stdin, c.Env = nil, append(c.Env, "TERM="+term)
			tty, err := pty.StartWithSize(c, &pty.Winsize{Rows: 24, Cols: 80})
			if err != nil {
				b.Fatal(err)
			}
			defer tty.Close()
			until := func(text string) time.Time {
				var all []byte
				for buffer := make([]byte, 4096); ; {
					n, err := tty.Read(buffer)
					at := time.Now()
					if err != nil {
						b.Fatalf("%v before %q: %q", err, text, all)
					}
					if all = append(all, buffer[:n]...); bytes.Contains(all, []byte(text)) {
						return at
					}
				}
			}
			until("amacs> ")
			var all []time.Duration
			for i := range b.N {
				text := fmt.Sprintf("piece%d.", i)
				if _, err := tty.WriteString("hello\r"); err != nil {
					b.Fatal(err)
				}
				<-asked
				time.Sleep(20 * time.Millisecond) // the prompt is drawn and the program at rest
				speak <- text
				at := until(text)
				all = append(all, at.Sub(<-sent))
				seen <- true
				until("amacs> ")
			}
			b.ReportMetric(0, "ns/op") // it holds the waiting
			b.ReportMetric(float64(median(all).Microseconds()), "µs(median)")
			_, _ = tty.WriteString("\x04")
			_ = c.Wait()
		})
	}
}

// BenchmarkProviderOverhead sends one request to one service in several ways:
//   - complete: the provider layer in this process: making the body, sending it,
//     reading the stream piece by piece;
//   - net-http: the same body ready-made, sent by net/http on a connection that is
//     kept, the stream read to its end and not understood;
//   - curl: a process that does this on a connection of its own;
//   - curl-start: such a process that does nothing.
func BenchmarkProviderOverhead(b *testing.B) {
	if _, err := exec.LookPath("curl"); err != nil {
		b.Skip("there is no curl here")
	}
	for _, vendor := range vendors {
		w := newWorld(b)
		server, flags := w.service(vendor)
		text := said(strings.Repeat("a reply of some length ", 40))
		model, err := provider.Open(provider.Options{Provider: vendor, Model: flags[3], BaseURL: flags[5], Getenv: func(name string) string {
			return map[string]string{"ANTHROPIC_API_KEY": "sk-ant-planted"}[name]
		}})
		if err != nil {
			b.Fatal(err)
		}
		request := provider.Request{System: strings.Repeat("a rule for the agent. ", 600), Blocks: []provider.Block{{Text: strings.Repeat("a line of the chat. ", 200)}}}
		complete := func() {
			server.Queue(fake.Answer{Text: text})
			if _, err := model.Complete(context.Background(), request, func(string) {}); err != nil {
				b.Fatal(err)
			}
		}
		complete()
		sent := asks(server)[0]
		address := server.URL + sent.URL.Path
		b.Run(vendor+"/complete", func(b *testing.B) {
			for b.Loop() {
				complete()
			}
		})
		b.Run(vendor+"/net-http", func(b *testing.B) {
			for b.Loop() {
				server.Queue(fake.Answer{Text: text})
				r, err := http.NewRequest(http.MethodPost, address, bytes.NewReader(sent.Body))
				if err != nil {
					b.Fatal(err)
				}
				r.Header = sent.Header.Clone()
				answer, err := http.DefaultClient.Do(r)
				if err != nil {
					b.Fatal(err)
				}
				n, err := io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
				if err != nil || answer.StatusCode != 200 || n < int64(len(text)) {
					b.Fatal(err, answer.Status, n)
				}
			}
		})
		b.Run(vendor+"/curl", func(b *testing.B) {
			for b.Loop() {
				server.Queue(fake.Answer{Text: text})
				args := []string{"-sSfN", "-o", "/dev/null", "--data-binary", "@-", address}
				for name := range sent.Header {
					if name != "Content-Length" && name != "Accept-Encoding" {
						args = append(args, "-H", name+": "+sent.Header.Get(name))
					}
				}
				c := exec.Command("curl", args...)
				c.Stdin = bytes.NewReader(sent.Body)
				if out, err := c.CombinedOutput(); err != nil {
					b.Fatalf("%v: %s", err, out)
				}
			}
		})
	}
	b.Run("curl-start", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command("curl", "--version").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
