package journal

import (
	"io/fs"
	"syscall"
)

// fill takes over what the index remembers of a file.
func (e *entry) fill(info fs.FileInfo) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	e.stat = stat{
		uint32(st.Ctim.Sec), uint32(st.Ctim.Nsec), uint32(st.Mtim.Sec), uint32(st.Mtim.Nsec),
		uint32(st.Dev), uint32(st.Ino),
	}
	e.uid, e.gid, e.size = st.Uid, st.Gid, uint32(st.Size)
}
