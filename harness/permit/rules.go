package permit

import (
	"crypto/sha256"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Rules are the user's, out of config.yaml. The stricter wins: deny, then ask,
// then allow. Allow lifts what asks, never what is refused; what could not be
// looked into, credentials, start files and the core skill it lifts only by their
// exact path.
type Rules struct {
	Allow, Ask, Deny []Rule
}

// Rule matches what all of its fields match. An empty rule matches nothing.
type Rule struct {
	Command string // first words of a command: "git push"; `*` is any one word
	Folder  string // absolute: what is touched in it; with Command: where that runs
	Host    string // "example.com", or "*.example.com" for those below it
	Tool    string // "server" or "server/tool"
}

func (r Rule) String() string {
	var out []string
	for _, f := range [][2]string{{"command", r.Command}, {"folder", r.Folder}, {"host", r.Host}, {"tool", r.Tool}} {
		if f[1] != "" {
			out = append(out, f[0]+" "+f[1])
		}
	}
	return strings.Join(out, ", ")
}

// Given is what a human answered.
type Given string

const (
	Yes       Given = "yes"    // this once
	No        Given = "no"     // this once
	Always    Given = "always" // this kind, in this project
	NeverMore Given = "never"  // this kind, in this project
)

// Answer is what was answered about a Verdict's Kind.
type Answer struct {
	Kind    string
	Project string // "" is every project
	Given   Given
}

// History is the answers so far, oldest first. The last "always" or "never" of a
// kind holds. Three times no without a yes between silences a kind.
type History []Answer

const denials = 3

const between = " + "

func (h History) of(project string) (always map[string]bool, refused map[string]bool, silent map[string]bool) {
	always, refused, silent = map[string]bool{}, map[string]bool{}, map[string]bool{}
	no := map[string]int{}
	for _, a := range h {
		if a.Project != "" && a.Project != project {
			continue
		}
		parts := strings.Split(a.Kind, between)
		switch a.Given {
		case Always, Yes:
			no[a.Kind] = 0
			delete(silent, a.Kind)
			if a.Given == Yes {
				continue
			}
			for _, k := range parts {
				always[k] = true
				delete(refused, k)
			}
			delete(refused, a.Kind)
		case NeverMore:
			refused[a.Kind] = true
			for _, k := range parts {
				delete(always, k)
			}
		case No:
			if no[a.Kind]++; no[a.Kind] >= denials {
				silent[a.Kind] = true
			}
		}
	}
	return always, refused, silent
}

// Silent says that a kind is not asked about in a project any more: it was
// answered with never, or three times with no.
func (h History) Silent(kind, project string) bool {
	_, refused, silent := h.of(project)
	return refused[kind] || silent[kind]
}

// covers says that every part of one of the kinds is in asked.
func covers(kinds map[string]bool, asked []string) bool {
	for k := range kinds {
		all := true
		for _, part := range strings.Split(k, between) {
			all = all && slices.ContainsFunc(asked, func(k string) bool {
				return k == part || strings.HasPrefix(part, "run:git ") && strings.HasPrefix(k, part+" ")
			})
		}
		if all {
			return true
		}
	}
	return false
}

func (j *judge) verdict(a Action, r Rules, h History) Verdict {
	v := Verdict{Touches: j.touches, Why: "it stays inside", Kind: string(a.Op) + ":" + a.Path}
	if len(j.ran) > 0 {
		v.Kind = Plain(shown("run:" + strings.Join(head(j.ran[0].words), " ")))
	}
	for _, rule := range r.Deny {
		if j.met(rule) {
			j.find(finding{tier: Never, why: "config.yaml denies it: " + rule.String(), kind: "rule:" + rule.String()})
		}
	}
	var left []finding
	always, refused, silent := h.of(j.Project)
	for _, f := range j.found {
		lifted := f.tier == Ask && (always[f.kind] || slices.ContainsFunc(r.Allow, func(rule Rule) bool { return j.lifts(rule, f) }))
		v.Lifted = v.Lifted || lifted
		if !lifted {
			left = append(left, f)
		}
	}
	for _, rule := range r.Ask {
		if j.met(rule) {
			left = append(left, finding{tier: Ask, why: "config.yaml asks: " + rule.String(), kind: "rule:" + rule.String()})
		}
	}
	if a.Because != "" {
		for i, f := range left { // an answer about this is another than about the same unfree
			left[i].kind = "free " + f.kind
		}
		if len(left) == 0 {
			left = append(left, finding{tier: Ask, kind: "free " + v.Kind})
		}
		left[0].why = strings.TrimSuffix(a.Because+"; "+left[0].why, "; ")
	}
	var whys, kinds, asked []string
	for _, f := range left {
		v.Tier = max(v.Tier, f.tier)
		if f.tier == Ask && !slices.Contains(asked, f.kind) {
			asked = append(asked, f.kind)
		}
	}
	for _, f := range left {
		if f.tier == v.Tier && !slices.Contains(whys, f.why) {
			whys = append(whys, f.why)
		}
		if f.tier == v.Tier && !slices.Contains(kinds, f.kind) {
			kinds = append(kinds, f.kind)
		}
	}
	if len(whys) > 3 {
		whys = append(whys[:3], fmt.Sprintf("and %d more", len(whys)-3))
	}
	if len(whys) > 0 {
		slices.Sort(kinds)
		v.Why, v.Kind = strings.Join(whys, "; "), strings.Join(kinds, between)
	}
	if v.Tier == Ask && covers(refused, asked) {
		v.Tier, v.Why = Never, "you answered never: "+v.Why
	}
	if v.Tier == Ask && covers(silent, asked) {
		v.Tier, v.Silenced, v.Why = Never, true, fmt.Sprintf("denied %d times: %s", denials, v.Why)
	}
	return v
}

// met says that a rule speaks of something in the action.
func (j *judge) met(r Rule) bool {
	if r.Command != "" {
		return r.Host == "" && r.Tool == "" && slices.ContainsFunc(j.ran, func(c command) bool {
			return begins(c.words, r.Command) && (r.Folder == "" || c.dir == "" || inside(c.dir, r.Folder))
		})
	}
	switch {
	case r.Host != "":
		return r.Folder == "" && r.Tool == "" && slices.ContainsFunc(j.fetched, func(h string) bool { return isHost(h, r.Host) })
	case r.Tool != "":
		return r.Folder == "" && slices.ContainsFunc(j.found, func(f finding) bool { return isTool(f.tool, r.Tool) })
	case r.Folder != "":
		return slices.ContainsFunc(j.touches, func(t Touch) bool {
			return (t.How == Reads || t.How == Writes || t.How == Removes) && inside(strings.ToLower(t.What), strings.ToLower(r.Folder))
		})
	}
	return false
}

// lifts says that an allowing rule covers f.
func (j *judge) lifts(r Rule, f finding) bool {
	if r.Folder != "" && r.Command == "" && r.Host == "" && r.Tool == "" && f.path != "" {
		return !strings.ContainsAny(f.path, "*?") && (f.path == clean(r.Folder) || !f.firm && inside(f.path, r.Folder))
	}
	if f.firm {
		return false
	}
	switch {
	case r.Command != "":
		return r.Host == "" && r.Tool == "" && len(f.words) > 0 && begins(f.words, r.Command) &&
			(r.Folder == "" || f.dir != "" && inside(f.dir, r.Folder))
	case r.Host != "":
		return r.Folder == "" && r.Tool == "" && f.host != "" && isHost(f.host, r.Host)
	case r.Tool != "":
		return r.Folder == "" && f.tool != "" && isTool(f.tool, r.Tool)
	}
	return false
}

// begins says that a command begins with the words of a rule, its program's
// folder and the options before its subcommand apart.
func begins(words []string, rule string) bool {
	want := strings.Fields(rule)
	same := func(words []string) bool {
		if len(words) < len(want) {
			return false
		}
		for i, w := range want {
			if w != "*" && w != words[i] && !(i == 0 && w == path.Base(words[0])) {
				return false
			}
		}
		return true
	}
	return len(want) > 0 && (same(words) || same(head(words)))
}

// grouping are subcommands that have subcommands.
var grouping = strings.Fields("run run-script config mod tool image container network volume compose system context auth rollout pip env repo pr issue release workflow api state workspace pkg toolchain target component pm nextest")

// head is a command's program and, where it has some, its subcommand.
func head(words []string) []string {
	if len(words) == 0 {
		return nil
	}
	name := path.Base(words[0])
	out := []string{name}
	if _, ok := tools[name]; !ok && !slices.Contains([]string{"git", "gh", "glab", "hub", "aws", "gcloud"}, name) {
		return out
	}
	args := words[1:]
	for i := 0; i < len(args); i++ {
		switch {
		case !strings.HasPrefix(args[i], "-"):
			if out = append(out, args[i]); len(out) == 3 || !slices.Contains(grouping, args[i]) && name != "aws" && name != "gcloud" {
				return out
			}
		case len(out) == 1 && slices.Contains(strings.Fields(before[name]), args[i]):
			i++
		}
	}
	return out
}

func isHost(host, rule string) bool {
	host, rule = strings.ToLower(strings.TrimSuffix(host, ".")), strings.ToLower(rule)
	if below, ok := strings.CutPrefix(rule, "*."); ok {
		return strings.HasSuffix(host, "."+below)
	}
	return host == rule
}

func isTool(tool, rule string) bool {
	return tool != "" && (tool == rule || strings.HasPrefix(tool, rule+"/"))
}

// exactly is the kind of one command and no other.
func exactly(words []string) string {
	s := strings.Join(words, " ")
	sum := sha256.Sum256([]byte(strings.Join(words, "\x00")))
	line := strings.Join(strings.Fields(s), " ")
	if len(line) > 60 {
		line = strings.ToValidUTF8(line[:60], "") + "…"
	}
	return fmt.Sprintf("run:%s #%x", strings.ReplaceAll(line, between, " "), sum[:10])
}

// Plain is a kind in which nothing can be taken for two kinds or for another line:
// where a path or a name has such in it, its sum stands for it.
func Plain(kind string) string {
	plain := strings.Join(strings.Fields(strings.ReplaceAll(kind, "+", " ")), " ")
	if !strings.Contains(kind, between) && strings.Join(strings.Fields(kind), " ") == kind {
		return kind
	}
	sum := sha256.Sum256([]byte(kind))
	return fmt.Sprintf("%s #%x", plain, sum[:10])
}
