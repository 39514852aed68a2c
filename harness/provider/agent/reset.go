package agent

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

var (
	resetEpoch = regexp.MustCompile(`limit reached\|(\d{10})\b`)
	resetClock = regexp.MustCompile(`(?i)resets?\s+(?:at\s+)?(\d{1,2})(?::(\d\d))?\s*([ap]m)(?:\s*\(([\w+/-]+)\))?`)
	resetSpan  = regexp.MustCompile(`(?i)(?:again|resets?|retry|reset after|resets in)\s+(?:in|after)\s+((?:\d+(?:\.\d+)?\s*(?:days?|hours?|minutes?|seconds?|hrs?|mins?|secs?|[dhms])[\s,]*(?:and\s+)?)+)`)
	spanPart   = regexp.MustCompile(`(?i)(\d+(?:\.\d+)?)\s*([dhms])`)
)

// resetIn finds when a limit ends in what a CLI says of it: "limit
// reached|1795294800", "resets 3pm (Europe/Berlin)", "try again in 2 hours 5
// minutes", "reset after 1h2m3s". The zero time if it does not say.
func resetIn(text string, now time.Time) time.Time {
	if m := resetEpoch.FindStringSubmatch(text); m != nil {
		seconds, err := strconv.ParseInt(m[1], 10, 64)
		if err != nil {
			return time.Time{}
		}
		return time.Unix(seconds, 0)
	}
	if m := resetSpan.FindStringSubmatch(text); m != nil {
		var span time.Duration
		units := map[string]time.Duration{"d": 24 * time.Hour, "h": time.Hour, "m": time.Minute, "s": time.Second}
		for _, part := range spanPart.FindAllStringSubmatch(m[1], -1) {
			n, err := strconv.ParseFloat(part[1], 64)
			if err != nil || n > 1000 {
				return time.Time{}
			}
			span += time.Duration(n * float64(units[strings.ToLower(part[2])]))
		}
		return now.Add(span)
	}
	if m := resetClock.FindStringSubmatch(text); m != nil {
		hour, err := strconv.Atoi(m[1])
		minute, _ := strconv.Atoi(m[2]) // "" is 0
		if err != nil || hour < 1 || hour > 12 || minute > 59 {
			return time.Time{}
		}
		hour %= 12
		if strings.EqualFold(m[3], "pm") {
			hour += 12
		}
		here := now
		if zone, err := time.LoadLocation(m[4]); m[4] != "" && err == nil {
			here = now.In(zone)
		}
		at := time.Date(here.Year(), here.Month(), here.Day(), hour, minute, 0, 0, here.Location())
		if !at.After(now) {
			at = at.AddDate(0, 0, 1)
		}
		return at
	}
	return time.Time{}
}
