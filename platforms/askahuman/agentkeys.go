package askahuman

import (
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/onesynth-cdk/onesynth/schema"
)

// withAgentKeys adds the table of [AgentKeys], which the function agentapi reads.
func withAgentKeys(p *schema.Platform) {
	keys := AgentKeys()
	p.Database.Tables = append(p.Database.Tables, keys.Tables...)
	p.Database.AccessPatterns = append(p.Database.AccessPatterns, keys.AccessPatterns...)
}

// AgentKeys returns the data model of issued keys. Operators issue, list and revoke them with the command onesynth; the
// function agentapi looks up the owner of a request's key.
func AgentKeys() schema.Database {
	return schema.Database{
		Prefix: "aah",
		Tables: []schema.Table{{
			Name:         "AgentKeys",
			PhysicalName: "agent-keys",
			Description:  "With the prop AgentKeys: the keys that agents show, by their hash. No item has a key.",
			Key:          schema.Key{Partition: "key_hash"},
			Attributes: schema.After(attributesOf(AgentKey{}), "agent_id", schema.String.Attribute("listed",
				"The constant KEY")),
			Indexes: []schema.Index{
				{Name: "ByAgent", Key: schema.Key{Partition: "listed", Sort: "agent_id"},
					Description: "All keys, in the order of their agents, for operators."},
			},
		}},
		AccessPatterns: schema.UsedBy("agentapi",
			schema.GetItem.Pattern("GetAgentKey", "AgentKeys",
				"Whose key a request shows, if it is one. Consistent, so that a revoked key is refused at once.").
				Returning("agent_id", "last_used_at", "revoked_at"),
			schema.UpdateItem.Pattern("MarkAgentKeyUsed", "AgentKeys",
				"Keep when a key was last used, unless a use in the last hour is kept."),
			schema.UpdateItem.Pattern("CreateAgentKey", "AgentKeys",
				"Keep the hash of a key that is issued. By the command `onesynth agent create`.").ForOperators(),
			schema.Query.Pattern("ListAgentKeys", "AgentKeys",
				"All keys, by agent. By the commands `onesynth agent list` and `revoke`.").
				By("ByAgent", schema.Where("listed", schema.Equal)).ForOperators(),
			schema.UpdateItem.Pattern("RevokeAgentKey", "AgentKeys",
				"Refuse a key from now on, if it is there. By the command `onesynth agent revoke`.").ForOperators(),
		),
	}
}

// AgentKeyIDLength is how many digits of a key's hash make its id. Among a million keys, the chance that two share an
// id is 1 in 500.
const AgentKeyIDLength = 12

// AgentKey is the stored record of a key, without the key itself.
type AgentKey struct {
	// Hash is [HashAgentKey] of the key.
	Hash string `dynamodbav:"key_hash" attribute:"SHA-256 of the key, hexadecimal, partition key; the first 12 digits are the key's id"`
	// AgentID is the agent that the key names.
	AgentID   string    `dynamodbav:"agent_id" attribute:"The agent that the key names: its questions and its rate limits"`
	CreatedAt time.Time `dynamodbav:"created_at" attribute:"{time}"`
	// LastUsedAt is exact to the hour. Zero: the key was never used.
	LastUsedAt time.Time `dynamodbav:"last_used_at" attribute:"When the key was last used, to the hour; absent until then: {time}"`
	// RevokedAt is when the key was revoked. Zero: the key is valid.
	RevokedAt time.Time `dynamodbav:"revoked_at" attribute:"From when the key is refused; absent while it is taken: {time}"`
}

// ID returns the key's id, by which people refer to it: the first 12 digits of its hash.
func (k AgentKey) ID() string { return k.Hash[:min(AgentKeyIDLength, len(k.Hash))] }

// HashAgentKey returns the SHA-256 of a key, in hexadecimal. A key has 260 random bits, so neither salt nor a slow hash
// would make it harder to find.
func HashAgentKey(key string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(key)))
}
