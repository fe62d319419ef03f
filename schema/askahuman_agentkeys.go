package schema

// withAgentKeys adds the table of [AgentKeys], which the function agentapi reads.
func withAgentKeys(p *Platform) {
	keys := AgentKeys()
	p.Database.Tables = append(p.Database.Tables, keys.Tables...)
	p.Database.AccessPatterns = append(p.Database.AccessPatterns, keys.AccessPatterns...)
	p.function("agentapi").AccessPatterns = append(p.function("agentapi").AccessPatterns, "GetAgentKey", "MarkAgentKeyUsed")
}

// AgentKeys is the data model of issued keys. Operators issue, list and revoke them
// with the command onesynth; the function agentapi looks up the owner of a request's key.
func AgentKeys() Database {
	return Database{
		Prefix: "aah",
		Tables: []Table{{
			Name:         "AgentKeys",
			PhysicalName: "agent-keys",
			Description:  "With the prop AgentKeys: the keys that agents show, by their hash. No item has a key.",
			Key:          Key{Partition: "key_hash"},
			Attributes: []Attribute{
				{"key_hash", String, "SHA-256 of the key, hexadecimal, partition key; the first 12 digits are the key's id"},
				{"agent_id", String, "The agent that the key names: its questions and its rate limits"},
				{"listed", String, "The constant KEY"},
				{"created_at", String, timestampFormat},
				{"last_used_at", String, "When the key was last used, to the hour; absent until then: " + timestampFormat},
				{"revoked_at", String, "From when the key is refused; absent while it is taken: " + timestampFormat},
			},
			Indexes: []Index{
				{Name: "ByAgent", Key: Key{"listed", "agent_id"}, Description: "All keys, in the order of their agents, for operators."},
			},
		}},
		AccessPatterns: []AccessPattern{
			{
				Name:        "GetAgentKey",
				Description: "Whose key a request shows, if it is one. Consistent, so that a revoked key is refused at once.",
				Operation:   GetItem, Table: "AgentKeys", Consistent: true,
				Attributes: []string{"agent_id", "last_used_at", "revoked_at"},
			},
			{
				Name:        "MarkAgentKeyUsed",
				Description: "Keep when a key was last used, unless a use in the last hour is kept.",
				Operation:   UpdateItem, Table: "AgentKeys",
			},
			{
				Name:        "CreateAgentKey",
				ByOperators: true,
				Description: "Keep the hash of a key that is issued. By the command `onesynth agent create`.",
				Operation:   UpdateItem, Table: "AgentKeys",
			},
			{
				Name:        "ListAgentKeys",
				ByOperators: true,
				Description: "All keys, by agent. By the commands `onesynth agent list` and `revoke`.",
				Operation:   Query, Table: "AgentKeys", Index: "ByAgent",
				KeyConditions: []KeyCondition{{"listed", Equal}},
			},
			{
				Name:        "RevokeAgentKey",
				ByOperators: true,
				Description: "Refuse a key from now on, if it is there. By the command `onesynth agent revoke`.",
				Operation:   UpdateItem, Table: "AgentKeys",
			},
		},
	}
}
