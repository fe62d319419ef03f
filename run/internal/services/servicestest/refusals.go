// Package servicestest has what tests of several packages need of the services of a run.
package servicestest

// Refusal is a request that AWS refuses, as the API reference of its service says.
type Refusal struct {
	// Call is the service and the operation, such as "SQS SendMessage".
	Call string
	// Of names the parameter or state that AWS refuses.
	Of string
	// Code is the error code with which a run refuses it, too. Empty: a run takes it.
	Code string
}

// The codes that several calls have.
const (
	invalid  = "ValidationException"
	value    = "InvalidParameterValue"
	noTable  = "ResourceNotFoundException"
	noBucket = "NoSuchBucket"
	noQueue  = "AWS.SimpleQueueService.NonExistentQueue"
)

// Refusals are those of each call of lambdas/kit, for the parameters that it sends. Left out are missing permissions,
// throttling, keys of AWS KMS, and faults of AWS. The tests of package services send each request that one can make.
var Refusals = []Refusal{
	{"Bedrock Converse", "each request, unless --bedrock names a server, which then decides", "AccessDeniedException"},
	{"Bedrock Converse", "a model or a guardrail that the region or the account does not have", ""},
	{"Bedrock Converse", "messages or settings that the model does not take", ""},

	{"DynamoDB BatchGetItem", "a table that is not there", noTable},
	{"DynamoDB BatchGetItem", "no key, or more than 100", invalid},
	{"DynamoDB BatchGetItem", "the same key twice", invalid},
	{"DynamoDB BatchGetItem", "a key that is not the table's", invalid},

	{"DynamoDB DeleteItem", "a table that is not there", noTable},
	{"DynamoDB DeleteItem", "a key that is not the table's", invalid},
	{"DynamoDB DeleteItem", "a condition that does not hold", "ConditionalCheckFailedException"},
	{"DynamoDB DeleteItem", "an item that a transaction is changing", ""},

	{"DynamoDB GetItem", "a table that is not there", noTable},
	{"DynamoDB GetItem", "a key that is not the table's", invalid},
	{"DynamoDB GetItem", "an expression that cannot be read", invalid},

	{"DynamoDB PutItem", "a table that is not there", noTable},
	{"DynamoDB PutItem", "an item without its key, or with an empty one", invalid},
	{"DynamoDB PutItem", "an item of more than 400 KB", invalid},
	{"DynamoDB PutItem", "a number of more than 38 digits", invalid},
	{"DynamoDB PutItem", "a condition that does not hold", "ConditionalCheckFailedException"},
	{"DynamoDB PutItem", "an item that a transaction is changing", ""},

	{"DynamoDB Query", "a table that is not there", noTable},
	{"DynamoDB Query", "an index that the table does not have", invalid},
	{"DynamoDB Query", "a condition on other attributes than the key", invalid},
	{"DynamoDB Query", "a start that is no key", invalid},
	{"DynamoDB Query", "a limit below 1", invalid},

	{"DynamoDB TransactWriteItems", "a table that is not there", noTable},
	{"DynamoDB TransactWriteItems", "no action, or more than 100", invalid},
	{"DynamoDB TransactWriteItems", "two actions on one item", invalid},
	{"DynamoDB TransactWriteItems", "a condition that does not hold", "TransactionCanceledException"},
	{"DynamoDB TransactWriteItems", "items of more than 4 MB together", invalid},
	{"DynamoDB TransactWriteItems", "an item of more than 400 KB", invalid},
	{"DynamoDB TransactWriteItems", "a token again, with other actions", "IdempotentParameterMismatchException"},
	{"DynamoDB TransactWriteItems", "an item that another request is changing", ""},

	{"DynamoDB UpdateItem", "a table that is not there", noTable},
	{"DynamoDB UpdateItem", "a key that is not the table's", invalid},
	{"DynamoDB UpdateItem", "a change of the key", invalid},
	{"DynamoDB UpdateItem", "an addition to a text", invalid},
	{"DynamoDB UpdateItem", "an item that would have more than 400 KB", invalid},
	{"DynamoDB UpdateItem", "a condition that does not hold", "ConditionalCheckFailedException"},
	{"DynamoDB UpdateItem", "an item that a transaction is changing", ""},

	{"EventBridge PutEvents", "no entry, or more than 10", invalid},
	{"EventBridge PutEvents", "entries of more than 1 MB together", invalid},
	{"EventBridge PutEvents", "an entry without Source, DetailType or Detail", "InvalidArgument"},
	{"EventBridge PutEvents", "a Detail that is no JSON object", "MalformedDetail"},
	{"EventBridge PutEvents", "a Source of AWS, such as aws.s3", "NotAuthorizedForSourceException"},
	{"EventBridge PutEvents", "a DetailType of more than 128 characters", ""},
	{"EventBridge PutEvents", "as a whole, a request without a complete entry: here each entry fails by itself", ""},

	{"S3 DeleteObject", "a bucket that is not there", noBucket},

	{"S3 GetObject", "a bucket that is not there", noBucket},
	{"S3 GetObject", "a key that is not there", "NoSuchKey"},
	{"S3 GetObject", "a range behind the object's end", "InvalidRange"},
	{"S3 GetObject", "an object that is archived", ""},

	{"S3 ListObjectsV2", "a bucket that is not there", noBucket},

	{"S3 PutObject", "a bucket that is not there", noBucket},
	{"S3 PutObject", "a key of more than 1,024 bytes", "KeyTooLongError"},
	{"S3 PutObject", "a body with another checksum than it says", ""},
	{"S3 PutObject", "an object of more than 5 GB", ""},

	{"SQS ChangeMessageVisibility", "a queue that is not there", noQueue},
	{"SQS ChangeMessageVisibility", "a time that is not from 0 to 43,200 seconds", value},
	{"SQS ChangeMessageVisibility", "a receipt that is not the queue's", "ReceiptHandleIsInvalid"},
	{"SQS ChangeMessageVisibility", "a message that is not in flight", ""},
	{"SQS ChangeMessageVisibility", "more than 12 hours since the message was received", ""},

	{"SQS SendMessage", "a queue that is not there", noQueue},
	{"SQS SendMessage", "no body", "MissingParameter"},
	{"SQS SendMessage", "a character that the reference does not list", "InvalidMessageContents"},
	{"SQS SendMessage", "more than 1 MiB with the attributes", value},
	{"SQS SendMessage", "more than 10 attributes", value},
	{"SQS SendMessage", "an attribute without a value", value},
	{"SQS SendMessage", "an attribute with a name or a type that is not allowed", value},

	{"Secrets Manager GetSecretValue", "a secret that is not there, or has no value", "ResourceNotFoundException"},
	{"Secrets Manager GetSecretValue", "a secret that waits for its deletion", ""},
}
