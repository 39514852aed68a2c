package files

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"
)

// PlanWrite plans to make a file hold text. A file that is there keeps its
// encoding and its byte order mark, and its line ends if all are alike; whether
// the last line has an end is as text says.
func PlanWrite(path, text string) (Change, error) {
	return plan("writing", path, func(c *Change) error {
		switch {
		case !utf8.ValidString(text):
			return errors.New("the new text is not UTF-8")
		case strings.Contains(text, "\x00"):
			return errors.New("the new text holds a NUL; only text is written")
		case c.New:
			c.After = []byte(text)
			return nil
		}
		_, f, err := decode(c.Before)
		if err != nil {
			return err
		}
		if f.mark != "" {
			text = strings.TrimPrefix(text, "\uFEFF")
		}
		c.After = f.encode(f.fit(text))
		return nil
	})
}

// PlanEdit plans to replace old by new in a text file. Old must stand there
// exactly, and once unless all is set. "\n" in both means a line end as the
// file has them.
func PlanEdit(path, old, new string, all bool) (Change, error) {
	return plan("editing", path, func(c *Change) error {
		if c.New {
			return fmt.Errorf("%w; to make it, write it", fs.ErrNotExist)
		}
		if !utf8.ValidString(new) || strings.Contains(new, "\x00") {
			return errors.New("the new text is not UTF-8 or holds a NUL")
		}
		text, f, err := decode(c.Before)
		if err != nil {
			return err
		}
		if text, err = replace(text, f, old, new, all); err == nil {
			c.After = f.encode(text)
		}
		return err
	})
}

// PlanBytes plans to make a file hold exactly b, as it was once.
func PlanBytes(path string, b []byte) (Change, error) {
	return plan("writing", path, func(c *Change) error {
		c.After = b
		return nil
	})
}

// PlanRemove plans to remove a file.
func PlanRemove(path string) (Change, error) {
	return plan("removing", path, func(c *Change) error {
		if c.New {
			return fs.ErrNotExist
		}
		c.Gone = true
		return nil
	})
}

// plan reads what is there and lets fill say what shall be.
func plan(doing, path string, fill func(*Change) error) (Change, error) {
	c, err := now(path)
	if err == nil {
		err = fill(&c)
	}
	if err == nil && len(c.After) > MaxFile {
		err = fmt.Errorf("the new text has %d MB; the most is %d", len(c.After)>>20, MaxFile>>20)
	}
	if err != nil {
		return Change{}, fmt.Errorf("%s %s: %w", doing, path, err)
	}
	return c, nil
}

// now is the file as it is, with nothing to be changed.
func now(path string) (Change, error) {
	c := Change{Path: path}
	dir, name, err := parted(path)
	if err != nil {
		return c, err
	}
	d, err := openFolder(dir, nil)
	if errors.Is(err, fs.ErrNotExist) {
		c.New = true
		return c, nil
	}
	if err != nil {
		return c, err
	}
	defer d.close()
	b, st, more, err := d.read(name, MaxFile, nil)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.New = true
		return c, nil
	case errors.Is(err, errFolder):
		return c, errors.New("it is a folder")
	case err != nil:
		return c, err
	case more:
		return c, fmt.Errorf("it has more than %d MB", MaxFile>>20)
	}
	c.Before, c.Names = b, uint64(st.Nlink)
	return c, nil
}
