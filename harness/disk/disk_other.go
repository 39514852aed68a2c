//go:build !linux

package disk

import "os"

// sharedJournal is true nowhere but where it was looked into.
func sharedJournal(*os.File) (device uint64, ok bool) { return 0, false }

func writeOut(*os.File) error { return nil }
