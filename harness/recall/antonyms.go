package recall

import "strings"

// opposites are pairs of words that can not both be said of one thing.
var opposites = func() map[[2]string]bool {
	out := map[[2]string]bool{}
	for _, pair := range strings.Split(strings.TrimSpace(`
above below, accept reject, active inactive, add remove, after before, agree disagree, all none, allow forbid, allow deny,
alive dead, always never, approve deny, arrive leave, ascend descend, asleep awake, attach detach, awake sleep, begin end,
better worse, big small, black white, blocking nonblocking, boy girl, break fix, bright dark, broken working, build destroy,
buy sell, clean dirty, climb descend, close open, cold hot, cold warm, connect disconnect, correct wrong, correct incorrect,
create delete, create destroy, dark light, day night, deep shallow, deny grant, deprecated supported, different same,
difficult easy, down up, dry wet, early late, east west, empty full, enable disable, enter exit, enter leave, even odd,
expand collapse, expensive cheap, external internal, fail succeed, fail pass, fast slow, fat thin, few many, finish start,
first last, forget remember, forward backward, found lost, front back, gain lose, good bad, happy sad, hard easy, hard soft,
hate love, hate like, dislike like, heavy light, hide show, high low, import export, in out, include exclude,
increase decrease, indoors outdoors, indoor outdoor, inside outside, install uninstall, jump land, keep drop, large small,
laugh cry, left right, lift drop, light dark, load unload, local remote, lock unlock, long short, major minor, man woman,
mandatory optional, married divorced, married single, maximum minimum, maximise minimise, maximize minimize, merge split,
mount unmount, mutable immutable, mount dismount, near far, new old, noisy quiet, north south, off on, old young, online offline,
pack unpack, pass throw, poor rich, positive negative, prefer avoid, present absent, private public, pull push, raise lower,
read write, required optional, rise fall, run stop, run sit, safe unsafe, safe dangerous, save spend, send receive, send catch,
sharp blunt, short tall, silent loud, sit stand, smooth rough, sober drunk, stable unstable, stand lie, start stop,
strong weak, success failure, sunny cloudy, sweet sour, synchronous asynchronous, sync async, tabs spaces, thick thin,
tie untie, tight loose, top bottom, true false, turn straighten, upgrade downgrade, use avoid, useful useless, valid invalid,
visible hidden, walk run, wake sleep, wide narrow, win lose, work fail, zip unzip
`), ",") {
		w := strings.Fields(pair)
		x, y := stem(w[0]), stem(w[1])
		out[[2]string{x, y}], out[[2]string{y, x}] = true, true
	}
	return out
}()

// negations turn a statement around.
var negations = func() map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields("no not never none nobody nothing nowhere neither nor without cannot cant wont dont doesnt didnt isnt arent wasnt werent hasnt havent hadnt shouldnt wouldnt couldnt mustnt lacks stopped") {
		out[w] = true
	}
	return out
}()
