// Package journal keeps the agent's history: one git commit per tick, and
// history read back. It is the only importer of go-git.
//
// The nouns: a [Repo] is the git repository of a home; a [Change] is a file
// that differs from the last commit; a [Commit] is what to record; an [Entry]
// is a commit read back. Begin with [Repo.Commit].
//
// # On disk
//
// A plain git repository, branch main. A tick's commit reads
//
//	[TICK 42][rust-debugging][focused] Fixed the borrow checker issue
//
//	(agent-add-note "lifetimes")
//	=> "stored"
//
//	Tick: 42
//	Tick-Id: 01JD…
//	Mood: focused
//
// Everything else begins with its kind: "[EDIT] scratchpad.org". [Kinds] lists
// them; Commit refuses any other subject. The format is in message.go.
//
// # What survives what
//
// Files are read and written by exact path; the index is written by our own
// codec, because go-git's drops the user's assume-unchanged flags. A commit
// runs in three waves under index.lock and the branch's lock: objects, index
// and ref are written as temporary files; the objects are renamed into place
// before, also on the disk (package disk), reflog, index and ref follow, in that
// order; then the disk is waited for. So a killed process leaves the
// repository before or after the commit, or with the index one step ahead (the
// tick's files show as staged, and Changes reports them).
// An acknowledged commit survives loss of power where the disk honours fsync;
// the order of the last three renames against each other rests on a journalling
// file system (ext4, xfs, apfs); elsewhere the index may be one step behind.
//
// Git's locks are taken as hard links of one flocked file, .git/amacs-lock: a
// lock that is this file while another process can flock it belongs to the
// dead. The next commit takes it over, Settle removes it, and neither touches
// any other.
//
// What the user staged stays staged and stays out of our commits, `git add -N`
// included. Hooks, signing, filters and line-ending conversion are never run:
// bytes are committed as they are. The reflog is always written.
//
// # Symbolic links
//
// History decides. Where the last commit has a regular file, or the caller
// gives Contents, a link to a regular file is committed as that content, and
// its index entry is marked skip-worktree: `git status` is clean, `git
// checkout`, `stash` and `reset --hard` leave the link alone (a reset to
// another content of that file stops with "not uptodate"), and Changes compares
// content. The price: plain `git add` does not see edits of such a file; amacs
// does. If the target disappears, the file counts as deleted. Any other
// link is committed as the link it is, as git does. What lies behind a linked
// directory can not be committed: [ErrBeyondLink].
//
// Nested repositories and submodules are not looked into.
package journal
