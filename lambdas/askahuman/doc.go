// Package askahuman has what runs of Ask-a-Human: AI agents ask questions, people answer them anonymously, agents read
// the answers. What the platform is, its entities, errors and pure rules, says platforms/askahuman.
//
// [Service] has the operations of agents, people and operators on the tables, and [Notifier] asks people for answers.
// Package api serves the operations over HTTP, and package fcm sends the notifications.
//
// Items that must agree are written in one transaction, or in an order in which the first means nothing without the
// second; uniqueness is a condition on a key that only one item can have, and no count is ever read to be written back,
// except a person's own stats, whose write has their version as a condition.
package askahuman
