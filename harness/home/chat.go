package home

import (
	"fmt"
	"regexp"
	"strconv"
	"time"

	"amacs/org"
)

// Exchange is what was said in one tick, a heading of agent-chat.org (RFC v4
// §8.3):
//
//	# -*- coding: utf-8 -*-
//
//	* Tick 42
//	:PROPERTIES:
//	:TIMESTAMP: 2026-11-21T14:30:00Z
//	:REPLY_TICK: 43
//	:END:
//
//	** Human
//	What's causing the ownership error?
//
//	** Agent
//	Looking at main.rs line 45...
//
// Either half may be missing: an exchange without Agent is pending, one without
// Human is a word of the agent's own. REPLY_TICK names the tick that answered
// where it is another one; when a reply answers several lines it stands under
// the newest. OUTCOME below Agent marks a reply that was cut short. A model's
// text that no reply could be read from is kept under Unparsed.
type Exchange struct {
	Tick      int
	Time      time.Time
	Human     string
	HasHuman  bool
	Agent     string
	HasAgent  bool
	ReplyTick int    // 0: its own tick, or none yet
	Outcome   string // of the reply: "" or "interrupted"
	Unparsed  string
}

// Pending reports whether the human still waits for an answer.
func (e Exchange) Pending() bool { return e.HasHuman && !e.HasAgent && e.ReplyTick == 0 }

var tickTitle = regexp.MustCompile(`^Tick (\d{1,9})$`)

// tickOf is the number of an exchange's heading; ok is false for other headings.
func tickOf(h *org.Heading) (tick int, ok bool) {
	m := tickTitle.FindStringSubmatch(h.Title)
	if m == nil {
		return 0, false
	}
	tick, err := strconv.Atoi(m[1])
	return tick, err == nil
}

// Exchanges reads a chat file, oldest first. Headings that are not exchanges
// are passed over.
func Exchanges(src []byte) []Exchange {
	doc := org.Parse(src)
	var out []Exchange
	for _, h := range doc.Top() {
		if e, ok := exchange(doc, h); ok {
			out = append(out, e)
		}
	}
	return out
}

func exchange(doc *org.Doc, h *org.Heading) (e Exchange, ok bool) {
	if e.Tick, ok = tickOf(h); !ok {
		return e, false
	}
	if v, ok := h.Prop("TIMESTAMP"); ok {
		e.Time, _ = time.Parse(time.RFC3339, v)
	}
	if v, ok := h.Prop("REPLY_TICK"); ok {
		e.ReplyTick, _ = strconv.Atoi(v)
	}
	for _, kid := range doc.Children(h) {
		text := org.Unescape(string(doc.Src[kid.Body:kid.End]))
		switch kid.Title {
		case "Human":
			e.Human, e.HasHuman = text, true
		case "Agent":
			e.Agent, e.HasAgent = text, true
			e.Outcome, _ = kid.Prop("OUTCOME")
		case "Unparsed":
			e.Unparsed = text
		}
	}
	return e, true
}

// Print is the exchange as it is written. Exchanges(Print()) gives it back.
func (e Exchange) Print() string { return e.entry().String() }

func (e Exchange) entry() org.Entry {
	out := org.Entry{
		Title: "Tick " + strconv.Itoa(e.Tick),
		Props: []org.Prop{{Key: "TIMESTAMP", Value: e.Time.UTC().Format(time.RFC3339)}},
	}
	if e.ReplyTick != 0 {
		out.Props = append(out.Props, org.Prop{Key: "REPLY_TICK", Value: strconv.Itoa(e.ReplyTick)})
	}
	if e.HasHuman {
		out.Children = append(out.Children, half("Human", e.Human, ""))
	}
	if e.Unparsed != "" {
		out.Children = append(out.Children, half("Unparsed", e.Unparsed, ""))
	}
	if e.HasAgent {
		out.Children = append(out.Children, half("Agent", e.Agent, e.Outcome))
	}
	return out
}

func half(who, text, outcome string) org.Entry {
	e := org.Entry{Title: who, Body: org.Escape(text)}
	if outcome != "" {
		e.Props = []org.Prop{{Key: "OUTCOME", Value: outcome}}
	}
	return e
}

// Say enters a line of the human as an exchange that is pending.
func (d *Draft) Say(l Line) error {
	l.Text = d.Clean(l.Text)
	return d.edit(Chat, func(src []byte) ([]byte, error) {
		if l.Tick <= LastExchange(src) {
			return nil, fmt.Errorf("entering tick %d in %s: a later one is there already", l.Tick, Chat)
		}
		return org.Append(src, Exchange{Tick: l.Tick, Time: l.At, Human: l.Text, HasHuman: true}.entry()), nil
	})
}

// Answer enters a reply of tick, made at time at, to the pending exchanges: it
// is written under the newest of them. With none, or where a hand has taken that
// one out meanwhile, it gets a heading of its own.
func (d *Draft) Answer(tick int, at time.Time, pending []int, text, outcome string) error {
	text = d.Clean(text)
	return d.edit(Chat, func(src []byte) ([]byte, error) {
		newest := 0
		for _, n := range pending {
			newest = max(newest, n)
			doc := org.Parse(src)
			if h := findTick(doc, n); h != nil && n != tick {
				src = doc.SetProp(h, "REPLY_TICK", strconv.Itoa(tick))
			}
		}
		doc := org.Parse(src)
		if h := findTick(doc, newest); h != nil {
			return doc.AppendChild(h, half("Agent", text, outcome)), nil
		}
		return org.Append(src, Exchange{Tick: tick, Time: at, Agent: text, HasAgent: true, Outcome: outcome}.entry()), nil
	})
}

// Unparsed keeps a model's text that no reply could be read from, under the
// newest pending exchange or a heading of its own. It takes the place of an
// earlier one there. An empty text leaves nothing to keep.
func (d *Draft) Unparsed(tick int, at time.Time, under int, raw string) error {
	if raw = d.Clean(raw); raw == "" {
		return nil
	}
	return d.edit(Chat, func(src []byte) ([]byte, error) {
		doc := org.Parse(src)
		h := findTick(doc, under)
		if h == nil {
			return org.Append(src, Exchange{Tick: tick, Time: at, Unparsed: raw}.entry()), nil
		}
		for _, kid := range doc.Children(h) {
			if kid.Title == "Unparsed" {
				return doc.ReplaceBody(kid, org.Escape(raw)), nil
			}
		}
		return doc.AppendChild(h, half("Unparsed", raw, "")), nil
	})
}

// LastExchange is the largest tick number of a chat file, 0 if it has none.
func LastExchange(src []byte) int {
	last := 0
	for _, h := range org.Parse(src).Top() {
		if tick, ok := tickOf(h); ok {
			last = max(last, tick)
		}
	}
	return last
}

// findTick is the heading of an exchange; there is none of tick 0.
func findTick(doc *org.Doc, tick int) *org.Heading {
	for _, h := range doc.Top() {
		if n, ok := tickOf(h); ok && n == tick && n > 0 {
			return h
		}
	}
	return nil
}
