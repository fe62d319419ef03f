package run

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
)

// minimumFree is how many bytes a disk needs: DynamoDB Local writes journals beside what it keeps.
const minimumFree = 1 << 20

// checkSpace returns an error if the disk of a folder is full. A folder that is not there is no error.
func checkSpace(folder string) error {
	file, err := os.CreateTemp(folder, ".free-")
	if err == nil {
		defer func() { _ = os.Remove(file.Name()) }()
		_, err = file.Write(make([]byte, minimumFree))
		err = errors.Join(err, file.Close())
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("the disk is full: %s cannot take %d MB more, so writes fail: free space there, or keep the "+
			"data elsewhere", folder, minimumFree>>20)
	}
	return nil
}

// disk prints that the disk of a folder is full, once until it has space again.
type disk struct {
	folder string
	check  func(folder string) error
	print  func(string)

	mutex   sync.Mutex
	checked time.Time
	full    bool
}

// betweenChecks is the shortest time between two looks at a disk for requests that failed.
const betweenChecks = time.Second

// failed looks at the disk, because a request failed, and prints what it finds later.
func (d *disk) failed() {
	d.mutex.Lock()
	due := time.Since(d.checked) >= betweenChecks
	if due {
		d.checked = time.Now()
	}
	d.mutex.Unlock()
	if due {
		go d.look()
	}
}

func (d *disk) look() {
	err := d.check(d.folder)
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if err != nil && !d.full {
		d.print(err.Error())
	}
	d.full = err != nil
}
