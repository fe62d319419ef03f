package askahuman

import (
	"crypto/sha256"
	"fmt"
)

// TokenKey returns the partition key, in the table Subscriptions, of the item that makes the token of a device unique,
// for functions that a team adds.
func TokenKey(token string) string {
	return fmt.Sprintf("TOKEN#%x", sha256.Sum256([]byte(token)))
}

// PersonKey returns the partition key, in the table Subscriptions, of the item that names a person's last subscription,
// as [TokenKey] does. A person is known by the hash of their fingerprint.
func PersonKey(personHash string) string { return "PERSON#" + personHash }
