package assembly

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Asset is a file or folder that a deployment would upload.
type Asset struct {
	// Path is the absolute path of a folder or a file.
	Path string
	// Zip says that Path is a zip file.
	Zip bool
}

func (a *Assembly) readAssets(at folder, file string) error {
	var read struct {
		Files map[string]struct {
			Source struct {
				Path      string
				Packaging string
			}
			Destinations map[string]struct{ ObjectKey string }
		}
	}
	path, err := at.file(file)
	if err != nil {
		return fmt.Errorf("manifest.json: asset manifest: %w", err)
	}
	if err := readJSON(path, &read); err != nil {
		return err
	}
	for id, entry := range read.Files {
		if entry.Source.Path == "" {
			continue // made by a command at deploy time
		}
		path, err := at.file(entry.Source.Path)
		if err != nil {
			return fmt.Errorf("%s: asset %s: %w", file, id, err)
		}
		asset := Asset{Path: path, Zip: entry.Source.Packaging == "file" &&
			strings.EqualFold(filepath.Ext(path), ".zip")}
		for _, destination := range entry.Destinations {
			a.assets[destination.ObjectKey] = asset
		}
	}
	return nil
}

// Asset returns the asset that is uploaded under the S3 object key, such as a function's Code.S3Key.
func (a *Assembly) Asset(key string) (Asset, error) {
	asset, ok := a.assets[key]
	if !ok {
		return Asset{}, fmt.Errorf("no asset with object key %q in the assembly's asset manifests: synthesise again",
			key)
	}
	if _, err := os.Stat(asset.Path); err != nil {
		return Asset{}, fmt.Errorf("asset %q is missing from the assembly: synthesise again: %w", key, err)
	}
	return asset, nil
}

// Folder puts the asset's files into dir, and returns dir: the content of a zip file, or links to the files of a
// folder, or copies where the system cannot link. They stay when the assembly is removed, or replaced by the next
// synth.
func (a Asset) Folder(dir string) (string, error) {
	if !a.Zip {
		if err := link(a.Path, dir); err != nil {
			return "", fmt.Errorf("asset %s: %w", a.Path, err)
		}
		return dir, nil
	}
	archive, err := zip.OpenReader(a.Path)
	if err != nil {
		return "", fmt.Errorf("unpack asset %s: %w", a.Path, err)
	}
	defer func() { _ = archive.Close() }()
	for _, file := range archive.File {
		if err := unpack(file, dir); err != nil {
			return "", fmt.Errorf("unpack asset %s: %s: %w", a.Path, file.Name, err)
		}
	}
	return dir, nil
}

// link puts links to the files of another folder into dir.
func link(from, dir string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		within, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(dir, within)
		switch {
		case entry.IsDir():
			return os.MkdirAll(target, 0o755)
		case within == ".":
			return errors.New("it is a file: a function's code is a folder or a zip file")
		case entry.Type()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(to, target)
		case os.Link(path, target) == nil:
			return nil
		}
		return copyFile(path, target)
	})
}

func copyFile(from, to string) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	info, err := source.Stat()
	if err != nil {
		return err
	}
	target, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, info.Mode().Perm())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	_, err = io.Copy(target, source)
	return err
}

func unpack(file *zip.File, dir string) (err error) {
	path, err := folder{root: dir, dir: dir}.file(file.Name)
	if err != nil {
		return err
	}
	if file.FileInfo().IsDir() {
		return os.MkdirAll(path, 0o755)
	}
	if !file.Mode().IsRegular() {
		return fmt.Errorf("got mode %v: only files and folders are unpacked", file.Mode())
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	source, err := file.Open()
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	target, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, file.Mode().Perm()|0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	// Lambda's own limit on an unpacked function; it also bounds a zip bomb.
	const most = 250 << 20
	written, err := io.Copy(target, io.LimitReader(source, most+1))
	if err == nil && written > most {
		return fmt.Errorf("file is larger than Lambda's 250 MB")
	}
	return err
}
