package fake

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// obj is a JSON object.
type obj = map[string]any

// encode prints JSON as the vendors do: one line, < and > as they are.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // only this package's own values come here
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// event is one of a stream of server-sent events; name may be "".
func event(name string, data []byte) []byte {
	var b bytes.Buffer
	if name != "" {
		b.WriteString("event: " + name + "\n")
	}
	b.WriteString("data: ")
	b.Write(data)
	b.WriteString("\n\n")
	return b.Bytes()
}

// frame is what is sent at a time: an event, a line, or the whole body.
type frame struct {
	data []byte
	cuts []int // positions in data where it is sent in parts
	text bool  // it carries a piece of the text
	last bool  // it marks the end: a stream cut short has none of these
}

// textFrames prints the text piece by piece; n counts them.
func (a Answer) textFrames(print func(n int, piece string) []byte) []frame {
	var out []frame
	start := 0
	for n, piece := range pieces(a.Text, a.Pieces) {
		this := func(piece string) []byte { return print(n, piece) }
		out = append(out, frame{data: this(piece), cuts: a.cuts(start, piece, this), text: true})
		start += len(piece)
	}
	return out
}

// cuts are where, in the print of a piece that begins at start, the wire is to
// be cut. What is printed before a character is found by printing the piece up
// to there: the two prints are the same until then.
func (a Answer) cuts(start int, piece string, print func(string) []byte) []int {
	var out []int
	for _, at := range a.Cut {
		at -= start
		if at <= 0 || at >= len(piece) {
			continue
		}
		rune := at // where the character begins that is cut
		for rune > 0 && piece[rune]&0xC0 == 0x80 {
			rune--
		}
		whole, upTo := print(piece), print(piece[:rune])
		same := 0
		for same < len(whole) && same < len(upTo) && whole[same] == upTo[same] {
			same++
		}
		out = append(out, same+at-rune)
	}
	return out
}

// reply is an answer ready to be sent.
type reply struct {
	contentType string
	frames      []frame
	stream      bool
	errorFrame  []byte // an error in mid-stream
}

// send writes a reply and does to it what the answer's fault says.
func send(w http.ResponseWriter, r *http.Request, a Answer, p reply) {
	out := &wire{w: w, r: r, body: w, delay: a.Delay}
	header := w.Header()
	header.Set("Content-Type", p.contentType)
	for k, v := range a.Headers {
		if !strings.HasPrefix(strings.ToLower(k), "retry-after") { // that was the fault's
			header.Set(k, v)
		}
	}
	middle, frames := half(p.frames), p.frames
	switch a.Fault {
	case Empty:
		frames = nil
	case HTML:
		header.Set("Content-Type", "text/html; charset=utf-8")
		frames = []frame{{data: []byte(page)}}
	case ContentType:
		header.Set("Content-Type", "text/plain; charset=utf-8")
	case NoStop:
		frames = nil
		for _, f := range p.frames {
			if !f.last {
				frames = append(frames, f)
			}
		}
	case HalfJSON:
		frames = middle
	case ErrorEvent: // one without a stream was answered with a status
		frames = append(middle[:len(middle)-1:len(middle)-1], frame{data: p.errorFrame})
	case Noise:
		if strings.HasPrefix(p.contentType, "text/event-stream") {
			frames = noisy(frames)
		}
	case Gzip:
		header.Set("Content-Encoding", "gzip")
		zip := gzip.NewWriter(w)
		defer zip.Close()
		out.body, out.zip = zip, zip
	case Reset:
		if out.all(middle) && out.flush() {
			out.reset()
		}
		return
	case Stall:
		if out.all(middle) && out.flush() {
			<-r.Context().Done()
		}
		hangUp()
	}
	if a.Fault != Gzip && !p.stream {
		n := 0
		for _, f := range frames {
			n += len(f.data)
		}
		header.Set("Content-Length", strconv.Itoa(n))
	}
	if !out.all(frames) {
		hangUp()
	}
}

// hangUp ends the connection, so that an answer that was not sent whole can not
// pass for one that was.
func hangUp() { panic(http.ErrAbortHandler) }

// half is the first half of a reply, ending within an object.
func half(frames []frame) []frame {
	var texts []int
	for i, f := range frames {
		if f.text {
			texts = append(texts, i)
		}
	}
	mid := len(frames) / 2
	if len(texts) > 0 {
		mid = texts[len(texts)/2]
	}
	return append(frames[:mid:mid], frame{data: frames[mid].data[:len(frames[mid].data)/2]})
}

// noisy puts between the events of a stream what a client has to pass over.
func noisy(frames []frame) []frame {
	var out []frame
	for _, f := range frames {
		out = append(out, frame{data: []byte(": PROCESSING\n\n:\n\n")},
			frame{data: []byte("event: weather\nid: 7\nretry: 10\ndata: {\"type\":\"weather\",\"choices\":[],\"sky\":\"clear\"}\n\n")}, f)
	}
	return out
}

const page = "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body><h1>Sign in to this network</h1></body></html>\n"

// wire is where a reply goes.
type wire struct {
	w     http.ResponseWriter
	r     *http.Request
	body  io.Writer
	zip   *gzip.Writer // nil = as it is
	delay time.Duration
	begun bool
}

// all sends frames, each before the next is begun; the last one goes when the
// handler returns, so that nobody sees the end of an answer that is in work. It
// reports false when the client is gone.
func (o *wire) all(frames []frame) bool {
	for _, f := range frames {
		start := 0
		for _, end := range append(f.cuts[:len(f.cuts):len(f.cuts)], len(f.data)) {
			if end <= start {
				continue
			}
			if o.begun && !(o.flush() && pause(o.r.Context(), o.delay)) {
				return false
			}
			o.begun = true
			if _, err := o.body.Write(f.data[start:end]); err != nil {
				return false
			}
			start = end
		}
	}
	return true
}

func (o *wire) flush() bool {
	if o.zip != nil && o.zip.Flush() != nil {
		return false
	}
	return http.NewResponseController(o.w).Flush() == nil
}

// reset ends the connection as a crashed server does: RST, not FIN.
func (o *wire) reset() {
	conn, _, err := http.NewResponseController(o.w).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// pause waits; it reports false when ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// join is texts that belong to one prompt.
func join(texts []string) string { return strings.Join(texts, "\n") }
