package assembly

import (
	"fmt"
	"path/filepath"
)

const manifestFile = "manifest.json"

// folder is where an assembly's files are. The CDK writes an assembly into a folder of its own for each stage, and
// keeps the assets of all in the outermost one.
type folder struct {
	// root is the outermost assembly's folder: every file lies in it.
	root string
	// dir is the folder that the assembly's own names are relative to.
	dir string
}

// folderOf finds the outermost assembly that the one in dir, an absolute path, is nested in.
func folderOf(dir string) folder {
	root := dir
	for {
		parent := filepath.Dir(root)
		if parent == root || !nests(parent, filepath.Base(root)) {
			return folder{root: root, dir: dir}
		}
		root = parent
	}
}

// nests reports whether dir has an assembly, with a nested one in the folder of that name.
func nests(dir, name string) bool {
	var outer manifest
	// Another program's manifest.json is no assembly.
	if err := readJSON(filepath.Join(dir, manifestFile), &outer); err != nil {
		return false
	}
	for _, found := range outer.Artifacts {
		if found.Type == nestedArtifact && filepath.Clean(filepath.FromSlash(found.Properties.DirectoryName)) == name {
			return true
		}
	}
	return false
}

// file is the path of a name from a file of the assembly. Errors: the name leads out of the outermost assembly.
func (f folder) file(name string) (string, error) {
	path := filepath.Join(f.dir, filepath.FromSlash(name))
	relative, err := filepath.Rel(f.root, path)
	if err != nil || name == "" || filepath.IsAbs(filepath.FromSlash(name)) || !filepath.IsLocal(relative) {
		return "", fmt.Errorf("got path %q: it must lie within the assembly", name)
	}
	return path, nil
}
