package gofunction

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"

	"github.com/onesynth-cdk/onesynth/constructs/props"
)

// pruned is the kind of the marks on output folders that [prune] has been through.
const pruned = "onesynth:pruned"

// prune removes the functions that earlier synths left in the app's output folder
// and that the assembly there, which this synth will replace, does not name: the CDK
// removes none, and each change of a handler adds one of some megabytes. It does so
// before the first function of an app is staged.
//
// The build remembers the folders and the scopes, since it is asked for each of its functions.
func (b *Build) prune(scope constructs.Construct) {
	if b.pruned[scope] {
		return
	}
	b.pruned[scope] = true
	stage := awscdk.Stage_Of(scope)
	if stage == nil {
		return
	}
	folder := *stage.AssetOutdir()
	if b.pruned[folder] {
		return
	}
	b.pruned[folder] = true
	if props.Marked(scope, pruned)[folder] {
		return
	}
	props.Mark(scope, pruned, folder)
	pruneFolder(folder)
}

// pruneFolder is [prune] for a folder. It leaves files that it cannot read or remove:
// the folder is then larger than it has to be, and still correct.
func pruneFolder(folder string) {
	named := map[string]bool{}
	if err := addAssets(named, folder); err != nil {
		return
	}
	staged, err := filepath.Glob(filepath.Join(folder, "asset.*"))
	if err != nil {
		return
	}
	for _, asset := range staged {
		if !named[asset] && isOwn(asset) {
			_ = os.RemoveAll(asset)
		}
	}
}

// addAssets adds the paths of the assets that the assembly in a folder names, and the assemblies
// within it.
func addAssets(named map[string]bool, folder string) error {
	var manifest struct {
		Artifacts map[string]struct {
			Type       string
			Properties struct{ File, DirectoryName string }
		}
	}
	if err := readJSON(filepath.Join(folder, "manifest.json"), &manifest); err != nil {
		return err
	}
	for _, artifact := range manifest.Artifacts {
		switch artifact.Type {
		case "cdk:cloud-assembly":
			if err := addAssets(named, filepath.Join(folder, artifact.Properties.DirectoryName)); err != nil {
				return err
			}
		case "cdk:asset-manifest":
			var assets struct {
				Files map[string]struct{ Source struct{ Path string } }
			}
			if err := readJSON(filepath.Join(folder, artifact.Properties.File), &assets); err != nil {
				return err
			}
			for _, file := range assets.Files {
				named[filepath.Join(folder, file.Source.Path)] = true
			}
		}
	}
	return nil
}

func readJSON(file string, into any) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return json.Unmarshal(content, into)
}

// isOwn reports whether [New] made the asset: a folder that contains only bootstrap, and whose name
// is the hash that the CDK makes of the AssetHash, here the bootstrap's hash.
func isOwn(asset string) bool {
	entries, err := os.ReadDir(asset)
	if err != nil || len(entries) != 1 || entries[0].Name() != "bootstrap" {
		return false
	}
	file, err := os.Open(filepath.Join(asset, "bootstrap"))
	if err != nil {
		return false
	}
	defer file.Close()
	binary := sha256.New()
	if _, err := io.Copy(binary, file); err != nil {
		return false
	}
	name := sha256.Sum256([]byte(hex.EncodeToString(binary.Sum(nil))))
	return filepath.Base(asset) == "asset."+hex.EncodeToString(name[:])
}
