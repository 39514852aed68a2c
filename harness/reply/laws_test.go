package reply

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func printReply(r Reply, err error) {
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s %g %q %q\n", r.Mood, r.Confidence, r.Monologue, r.Text)
	for _, w := range r.Warnings {
		fmt.Println("-", w)
	}
}

// FuzzParse: Parse never panics; what it accepts is well formed; on valid JSON
// it repairs nothing but duplicates, and the scanner agrees with encoding/json.
func FuzzParse(f *testing.F) {
	for _, raw := range corpus(f) {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		r, err := Parse(raw)
		if err != nil {
			if p, ok := err.(*Problem); !ok || p.Reason == "" || strings.Contains(p.Reason, "\n") {
				t.Fatalf("problem %#v", err)
			}
			RetryMessage(err.(*Problem), raw)
		} else if r.Mood == "" || r.Monologue == "" || strings.ContainsAny(r.Mood+r.Monologue, "\n\r") ||
			!(r.Confidence >= 0 && r.Confidence <= 1) || !utf8.ValidString(r.Text) && utf8.ValidString(raw) {
			t.Fatalf("reply %+v", r)
		}
		s := scanner{src: raw}
		if s.peek() != '{' || !json.Valid([]byte(raw)) {
			return
		}
		got, problem := s.object()
		if problem != nil {
			if strings.Contains(problem.Reason, "nested too deeply") {
				return
			}
			t.Fatalf("valid JSON refused: %s", problem.Reason)
		}
		dec := json.NewDecoder(strings.NewReader(raw))
		dec.UseNumber()
		var want any
		if err := dec.Decode(&want); err != nil {
			t.Fatal(err)
		}
		if g := plain(got); !reflect.DeepEqual(g, want) {
			t.Fatalf("got %#v, want %#v", g, want)
		}
		for _, repair := range s.repairs {
			if !strings.Contains(repair, "given twice") {
				t.Fatalf("valid JSON repaired: %s", repair)
			}
		}
	})
}

// plain turns a scanned value into what encoding/json gives.
func plain(v any) any {
	switch v := v.(type) {
	case number:
		return json.Number(v)
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = plain(e)
		}
		return list
	case object:
		m := map[string]any{}
		for _, e := range v {
			m[e.key] = plain(e.value)
		}
		return m
	}
	return v
}

// FuzzStream: of a valid JSON object with the required keys, pieces of any size
// give exactly Reply.Text.
func FuzzStream(f *testing.F) {
	for _, raw := range corpus(f) {
		f.Add(raw, uint8(3))
	}
	f.Fuzz(func(t *testing.T, raw string, size uint8) {
		streamed := inPieces(raw, int(size)%17+1)
		if whole := inPieces(raw, len(raw)+1); streamed != whole {
			t.Fatalf("pieces give %q, the whole gives %q", streamed, whole)
		}
		s := scanner{src: raw}
		if s.peek() != '{' || !json.Valid([]byte(raw)) {
			return
		}
		o, problem := s.object()
		if problem != nil || len(o.missing()) > 0 {
			return
		}
		for _, m := range o {
			if m.key != "reply" {
				continue
			}
			if _, text := m.value.(string); !text || len(s.repairs) > 0 {
				return // no string, or a key given twice
			}
		}
		if r, err := Parse(raw); err == nil && r.Text != streamed {
			t.Fatalf("streamed %q, Reply.Text %q", streamed, r.Text)
		}
	})
}

// FuzzStreamText is the same law on the texts themselves.
func FuzzStreamText(f *testing.F) {
	for _, text := range []string{"", "Hello.", " \n\ttwo\n\nlines ", `"\ \u00e9 {"reply":"x"}`, "</think>", "\u2028😀\x00\x1b[31m", "caf\xe9"} {
		f.Add(text, uint8(1), true)
		f.Add(text, uint8(7), false)
	}
	f.Fuzz(func(t *testing.T, text string, size uint8, last bool) {
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		raw := `{"mood":"m","scratchpad":{"reply":"no"},"confidence":0.5,"monologue":"\"reply\":\"no\""`
		if last {
			raw += `,"reply":` + string(quoted) + "}"
		} else {
			raw = `{"reply":` + string(quoted) + "," + raw[1:] + "}"
		}
		raw = "<think>" + strings.ReplaceAll(text, "<", "") + "</think>\n```json\n" + raw + "\n```"
		want := strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
		r, err := Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := inPieces(raw, int(size)%17+1); got != r.Text {
			t.Fatalf("streamed %q, Reply.Text %q", got, r.Text)
		}
		if utf8.ValidString(text) && r.Text != want {
			t.Fatalf("Reply.Text %q, want %q", r.Text, want)
		}
	})
}

func inPieces(raw string, size int) string {
	var s Stream
	var out strings.Builder
	for i := 0; i < len(raw); i += size {
		out.WriteString(s.Write(raw[i:min(i+size, len(raw))]))
	}
	return out.String()
}
