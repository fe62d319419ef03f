package todo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// known is what the answers said of a task.
type known struct {
	// edits are the results of requests for this task alone: fields by version.
	edits map[int]map[string]any
	// versions are the answers themselves.
	versions map[int]storedTask
	// also says that the status was also changed together with others', which
	// has a version of its own.
	also      bool
	completed bool
	gone      bool
}

// learn records what the answers say. A user who is leaving may be deleted at any step.
func (m *member) learn(ctx context.Context, steps []step, leaving bool) error {
	cleared := 0
	deleted := map[string]bool{}
	for _, s := range steps {
		if s.kind == "delete" && s.reply.Status == http.StatusNoContent {
			deleted[s.task] = true
		}
	}
	var renamed []string
	for _, s := range steps {
		unexpected := fmt.Errorf("got %v for %v", s.reply, s.body)
		if leaving && s.kind != "leave" {
			continue // nothing of it will be left
		}
		switch {
		case s.kind == "come" && s.reply.Status == http.StatusCreated:
			m.comes++
			m.alive, m.address = true, s.body.(profile).Email
			m.addresses = append(m.addresses, m.address)
		case s.kind == "leave" && (s.reply.Status == http.StatusNoContent || s.reply.Status == http.StatusAccepted):
			m.deletions.Add(1)
			m.leaves++
			maps.Copy(m.past, m.tasks)
			m.alive, m.tasks = false, nil
			if s.reply.Status == http.StatusAccepted {
				if err := m.Run.FlushStreams(ctx); err != nil {
					return err
				}
			}
			for _, s := range steps {
				if profile, ok := s.body.(profile); ok {
					m.maybe++
					m.addresses = append(m.addresses, profile.Email)
				}
			}
		case s.kind == "rename" && s.reply.Status == http.StatusOK:
			m.renames++
			renamed = append(renamed, s.body.(profile).Email)
		case s.kind == "create" && s.reply.Status == http.StatusCreated,
			s.kind == "edit" && s.reply.Status == http.StatusOK:
			got := storedTask{UserID: m.ID}
			if err := json.Unmarshal(s.reply.Body, &got.task); err != nil {
				return errors.Join(unexpected, err)
			}
			one := m.tasks[got.TaskID]
			if (one == nil) != (s.kind == "create") {
				return unexpected
			}
			if one == nil {
				one = &known{edits: map[int]map[string]any{}, versions: map[int]storedTask{}}
				m.tasks[got.TaskID] = one
			}
			if one.edits[got.Version] != nil {
				return fmt.Errorf("%w: two edits have that version", unexpected)
			}
			m.edits.Add(1)
			one.edits[got.Version], one.versions[got.Version] = s.fields, got
			one.completed = one.completed || got.Status == "completed"
			stored := map[string]*string{"title": &got.Title, "description": got.Description, "priority": got.Priority,
				"category": got.Category, "due_date": got.DueDate}
			for name, value := range s.fields {
				if asked, _ := value.(string); asked != text(stored[name]) {
					return fmt.Errorf("%w: %s was to be %q", unexpected, name, asked)
				}
			}
		case s.kind == "edit" && s.reply.Status == http.StatusPreconditionFailed && s.further != nil:
			m.stale.Add(1)
		case s.kind == "edit" && s.reply.Status == http.StatusBadRequest && s.method == http.MethodPatch:
			// A completed task stays completed.
		case s.kind == "delete" && s.reply.Status == http.StatusNoContent:
			if m.tasks[s.task] == nil || m.tasks[s.task].gone {
				return unexpected
			}
		case s.kind == "set" && s.reply.Status == http.StatusOK:
			var got statusesSet
			if err := json.Unmarshal(s.reply.Body, &got); err != nil {
				return errors.Join(unexpected, err)
			}
			for _, id := range got.Changed {
				one := m.tasks[id]
				if one == nil {
					return unexpected
				}
				one.also = true
				one.completed = one.completed || s.body.(input)["status"] == "completed"
			}
		case s.kind == "clear" && s.reply.Status == http.StatusOK:
			var got completedDeleted
			if err := json.Unmarshal(s.reply.Body, &got); err != nil || got.More {
				return errors.Join(unexpected, err)
			}
			cleared += got.Deleted
		case s.reply.Status == http.StatusNotFound && (s.kind == "edit" || s.kind == "delete"):
			one := m.tasks[s.task]
			maybe := slices.ContainsFunc(steps, func(s step) bool { return s.kind == "clear" })
			if one != nil && !one.gone && !deleted[s.task] && !maybe {
				return fmt.Errorf("%w: the task is there", unexpected)
			}
		default:
			return unexpected
		}
	}
	if !m.alive || leaving {
		return nil
	}
	if len(renamed) > 0 {
		got, err := m.get(ctx, "USER#"+m.ID, "METADATA")
		if err != nil {
			return err
		}
		m.address, _ = got["email"].(string)
		if !slices.Contains(renamed, m.address) {
			return fmt.Errorf("got user %v; want one of the addresses %v", got, renamed)
		}
		m.addresses = append(m.addresses, renamed...)
	}
	stored, err := m.partition(ctx, "TASK#"+m.ID)
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, item := range stored {
		there[strings.TrimPrefix(item["SK"].(string), "TASK#")] = true
	}
	missing := 0
	for id, one := range m.tasks {
		switch {
		case one.gone && there[id], deleted[id] && there[id]:
			return fmt.Errorf("task %s is back", id)
		case deleted[id]:
			one.gone = true
		case !one.gone && !there[id]:
			one.gone = true
			missing++
		}
	}
	if missing != cleared {
		return fmt.Errorf("%d tasks are gone that were not deleted by name; %d completed ones were deleted", missing,
			cleared)
	}
	return nil
}
