package engine

// DynamoDB Local loads thousands of classes at each start, and more with its first requests. Java reads them in a
// fraction of the time from an archive of classes that it has written once (class data sharing).

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

const (
	manifest = "META-INF/MANIFEST.MF"
	// archiveTimeout is the longest that callers of Start wait for the writing of an archive, before they wait for
	// DynamoDB Local without one. A busy machine may take longer: java writes all of it when it ends.
	archiveTimeout = 30 * time.Second
	// archiveUnusedAfter is the age at which an unused archive is deleted.
	archiveUnusedAfter = 30 * 24 * time.Hour
)

// program is what java runs: the class path, and the archive of its classes.
type program struct {
	java, jar string
	classPath []string
	archive   string
}

// startArchived starts DynamoDB Local with the archive below folder. It removes an archive with which java does not
// start.
func (e *Engine) startArchived(ctx context.Context, java, jar, dir, folder string) error {
	patience, cancel := context.WithTimeout(ctx, archiveTimeout)
	defer cancel()
	p, err := prepare(patience, java, jar, folder)
	if err != nil {
		return err
	}
	err = e.start(ctx, p, dir)
	if err != nil && ctx.Err() == nil {
		_ = os.Remove(p.archive)
	}
	return err
}

// prepare returns the program of a DynamoDBLocal.jar. The first time, it writes the archive below folder, which takes
// about four seconds on an idle machine. An archive belongs to one java command and one jar.
//
// Java archives the classes of jars only, and the manifest of DynamoDBLocal.jar has folders in its class path: the
// program has a copy of it, with the launcher and without a manifest.
func prepare(ctx context.Context, java, jar, folder string) (program, error) {
	// A jar that several folders link to has one archive.
	jar, err := filepath.EvalSymlinks(jar)
	if err != nil {
		return program{}, err
	}
	key, err := archiveKey(java, jar)
	if err != nil {
		return program{}, err
	}
	own := filepath.Join(folder, key)
	if err := os.MkdirAll(own, 0o755); err != nil {
		return program{}, err
	}
	p := program{java: java, jar: jar, classPath: []string{filepath.Join(own, "launcher.jar")},
		archive: filepath.Join(own, "classes.jsa")}
	libraries, err := classPathOf(jar)
	if err != nil {
		return program{}, err
	}
	p.classPath = append(p.classPath, libraries...)
	if _, err := os.Stat(p.archive); err == nil {
		now := time.Now()
		_ = os.Chtimes(own, now, now) // only delays the removal
		return p, nil
	}
	removeUnusedArchives(folder)
	if err := writeLauncherJar(p.classPath[0], jar); err != nil {
		return program{}, err
	}
	return p, p.writeArchive(ctx)
}

// archiveKey tells java commands and jars apart, by their paths, sizes and times.
func archiveKey(files ...string) (string, error) {
	hash := sha256.New()
	hash.Write(launcher)
	for _, file := range files {
		resolved, err := filepath.EvalSymlinks(file)
		if err != nil {
			return "", err
		}
		info, err := os.Stat(resolved)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(hash, resolved, info.Size(), info.ModTime().UnixNano())
	}
	return fmt.Sprintf("%x", hash.Sum(nil)[:16]), nil
}

// classPathOf returns the jars that a jar's manifest names, in its order.
func classPathOf(jar string) ([]string, error) {
	opened, err := zip.OpenReader(jar)
	if err != nil {
		return nil, err
	}
	defer func() { _ = opened.Close() }()
	file, err := opened.Open(manifest)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(file)
	if err != nil {
		return nil, err
	}
	// A line of a manifest has 72 bytes; the next one continues it after a space.
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	text = bytes.ReplaceAll(text, []byte("\n "), nil)
	var jars []string
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, len(text)+1)
	for lines.Scan() {
		value, ok := strings.CutPrefix(lines.Text(), "Class-Path:")
		if !ok {
			continue
		}
		for name := range strings.FieldsSeq(value) {
			path := filepath.Join(filepath.Dir(jar), filepath.FromSlash(name))
			if info, err := os.Stat(path); strings.HasSuffix(name, ".jar") && err == nil && !info.IsDir() {
				jars = append(jars, path)
			}
		}
	}
	return jars, lines.Err()
}

// writeLauncherJar copies the jar, with the launcher and without its manifest. Java compares size and time of a jar
// with those that an archive was written for, so the copy has the jar's time: several processes may write it.
func writeLauncherJar(path, jar string) (err error) {
	opened, err := zip.OpenReader(jar)
	if err != nil {
		return err
	}
	defer func() { _ = opened.Close() }()
	info, err := os.Stat(jar)
	if err != nil {
		return err
	}
	return replace(path, func(file *os.File) error {
		copied := zip.NewWriter(file)
		for _, entry := range opened.File {
			if entry.Name == manifest {
				continue
			}
			if err := copied.Copy(entry); err != nil {
				return err
			}
		}
		class, err := copied.Create("Launcher.class")
		if err != nil {
			return err
		}
		if _, err := class.Write(launcher); err != nil {
			return err
		}
		if err := copied.Close(); err != nil {
			return err
		}
		return os.Chtimes(file.Name(), info.ModTime(), info.ModTime())
	})
}

// replace writes a file beside path and renames it: other processes see a whole file or none.
func replace(path string, write func(*os.File) error) error {
	file, err := os.CreateTemp(filepath.Dir(path), "unfinished-")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }()
	err = write(file)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// writeArchive starts the program once, asks of it what runs ask first, and lets it write the classes that it has
// loaded.
func (p program) writeArchive(ctx context.Context) error {
	return replace(p.archive, func(file *os.File) error {
		e := newEngine()
		writing := p
		writing.archive = ""
		if err := e.start(ctx, writing, "", "-XX:ArchiveClassesAtExit="+file.Name()); err != nil {
			return err
		}
		if err := errors.Join(e.exercise(ctx), e.end(ctx)); err != nil {
			return fmt.Errorf("write the archive of DynamoDB Local's classes: %w", err)
		}
		if info, err := os.Stat(file.Name()); err != nil || info.Size() == 0 {
			return fmt.Errorf("write the archive of DynamoDB Local's classes: java wrote none; it printed:\n%s",
				e.output)
		}
		return nil
	})
}

// exercise loads the classes that a run needs first.
func (e *Engine) exercise(ctx context.Context) error {
	client := e.Client("archive")
	name := aws.String("archive")
	_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: name, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("PK"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("SK"), AttributeType: types.ScalarAttributeTypeN},
		},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("PK"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("SK"), KeyType: types.KeyTypeRange}},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("inverted"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
			KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("SK"), KeyType: types.KeyTypeHash}},
		}},
		StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(true),
			StreamViewType: types.StreamViewTypeNewAndOldImages},
	})
	if err != nil {
		return err
	}
	table, err := Active(ctx, client, name)
	if err != nil {
		return err
	}
	item := map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: "a"},
		"SK": &types.AttributeValueMemberN{Value: "1"}}
	_, err = client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Put: &types.Put{TableName: name, Item: item, ConditionExpression: aws.String("attribute_not_exists(PK)")}},
	}})
	if err != nil {
		return err
	}
	_, err = client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: name, Key: item, UpdateExpression: aws.String("SET n = if_not_exists(n, :one) + :one"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}},
	})
	if err != nil {
		return err
	}
	_, err = client.Query(ctx, &dynamodb.QueryInput{
		TableName: name, KeyConditionExpression: aws.String("PK = :pk"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": item["PK"]},
	})
	if err != nil {
		return err
	}
	return e.exerciseStream(ctx, table.LatestStreamArn)
}

func (e *Engine) exerciseStream(ctx context.Context, arn *string) error {
	client := e.StreamsClient("archive")
	stream, err := client.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: arn})
	if err != nil {
		return err
	}
	for _, shard := range stream.StreamDescription.Shards {
		iterator, err := client.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{
			StreamArn: arn, ShardId: shard.ShardId, ShardIteratorType: streamtypes.ShardIteratorTypeTrimHorizon,
		})
		if err != nil {
			return err
		}
		if _, err := client.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{
			ShardIterator: iterator.ShardIterator}); err != nil {
			return err
		}
	}
	return nil
}

// removeUnusedArchives ignores errors, because the next archive's writer tries again.
func removeUnusedArchives(folder string) {
	entries, _ := os.ReadDir(folder)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > archiveUnusedAfter {
			_ = os.RemoveAll(filepath.Join(folder, entry.Name()))
		}
	}
}
