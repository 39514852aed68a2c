package disk

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// sharedJournal tells which file system a file is on, if that keeps one journal
// for all its files: xfs always does, ext4 unless it was made without.
func sharedJournal(f *os.File) (device uint64, ok bool) {
	var at unix.Statfs_t
	var st unix.Stat_t
	if unix.Fstatfs(int(f.Fd()), &at) != nil || unix.Fstat(int(f.Fd()), &st) != nil {
		return 0, false
	}
	switch uint32(at.Type) {
	case unix.XFS_SUPER_MAGIC:
		return st.Dev, true
	case unix.EXT4_SUPER_MAGIC:
		return st.Dev, hasJournal(st.Dev)
	}
	return 0, false
}

// hasJournal asks the kernel, which lists each ext4 journal in use as
// /proc/fs/jbd2/NAME-INODE.
func hasJournal(device uint64) bool {
	block, err := os.Readlink(fmt.Sprintf("/sys/dev/block/%d:%d", unix.Major(device), unix.Minor(device)))
	if err != nil {
		return false
	}
	found, err := filepath.Glob("/proc/fs/jbd2/" + filepath.Base(block) + "-*")
	return err == nil && len(found) > 0
}

// writeOut hands a file's bytes to the disk and waits for that, not for the
// disk's own cache.
func writeOut(f *os.File) error {
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return err
	}
	const whole = unix.SYNC_FILE_RANGE_WAIT_BEFORE | unix.SYNC_FILE_RANGE_WRITE | unix.SYNC_FILE_RANGE_WAIT_AFTER
	return unix.SyncFileRange(int(f.Fd()), 0, 0, whole)
}
