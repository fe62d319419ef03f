package hotel

import (
	"time"

	"github.com/onesynth-cdk/onesynth/schema"
)

// The staff, by what they may do.
var (
	Reception = schema.Caller{Name: "reception", Token: schema.TokenOfUser, Group: "reception"}
	Manager   = schema.Caller{Name: "manager", Token: schema.TokenOfUser, Group: "manager"}
)

// The names of the functions.
const (
	GuestAPI  = "guestapi"
	StaffAPI  = "staffapi"
	Announcer = "announcer"
	WaitList  = "waitlist"
	HotelHook = "hotelhook"
	Reminder  = "reminder"
	Reporter  = "reporter"
	Postman   = "postman"
)

// The names of the events.
const (
	BookingMade      = "BookingMade"
	BookingCancelled = "BookingCancelled"
	ReminderDue      = "ReminderDue"
)

// The environment variables of the functions.
const (
	WaitListQueue = "WAIT_LIST_QUEUE_URL"
	WebhookQueue  = "WEBHOOK_QUEUE_URL"
	WebhookSecret = "WEBHOOK_SECRET_ARN"
	ReportsBucket = "REPORTS_BUCKET"
)

// ReportsFolder begins the keys of all reports.
const ReportsFolder = "arrivals/"

// The plans of the queues.
var (
	WaitListPlan = []time.Duration{10 * time.Second, time.Minute, 10 * time.Minute}
	WebhookPlan  = []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour}
)

// Platform returns the contract.
func Platform() schema.Platform {
	return schema.Platform{
		Name: "booking", Title: "Booking", Description: "Guests book rooms of a hotel, or wait for them",
		Database:  schema.Database{Prefix: "booking", Tables: tables(), AccessPatterns: accessPatterns()},
		Functions: functions(),
		Secrets: []schema.Secret{
			schema.CursorSecret(),
			{Name: "WebhookSecret", Description: "Signs the webhooks to the hotel", Variable: WebhookSecret},
		},
		Buckets: []schema.Bucket{{Name: "Reports", Description: "reports of the arrivals of each day",
			Variable: ReportsBucket, RetentionDays: 400}},
		RateLimits: []schema.RateLimit{{Name: "book", Requests: 60, Window: time.Hour, Per: schema.PerUser}},
		Routes: schema.Routes(ListRooms, ListNights, Book, ListBookings, GetBooking, Cancel, Wait, ListWaiting, Leave,
			ListMessages, PutRoom, ListArrivals, GetReport, PutWebhook, GetWebhookSecret),
		API: schema.API{Strict: true, Key: "A key of the caller's choice: a repeat with it books no second room.",
			Passing: []error{ErrFull, ErrFree},
			Credentials: map[schema.Caller]schema.Credential{
				schema.CallerUser: schema.BearerToken("userToken", "The guest is the token's subject."),
				Reception:         schema.BearerToken("receptionToken", "A user in the group of the reception."),
				Manager:           schema.BearerToken("managerToken", "A user in the group of the managers.")}},
		RequestHeaders: []string{"Authorization", "Content-Type", "Idempotency-Key"},
		ResponseHeaders: []string{"Idempotency-Replayed", "Location", "RateLimit-Limit", "RateLimit-Remaining",
			"RateLimit-Reset", "Retry-After", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"},
		Metrics: []schema.Metric{
			{Name: "Reminded", Function: Reminder, Unit: schema.Count, Description: "guests who were reminded"},
			{Name: "BookedFromWaitingList", Function: WaitList, Unit: schema.Count,
				Description: "guests who waited and got a room"},
		},
		Lakes:  []schema.Lake{lake()},
		Events: events(),
	}
}

// functions: a role may do exactly what the access patterns of its function need.
func functions() []schema.Function {
	reports := []schema.Objects{{Bucket: "Reports", Prefix: ReportsFolder}}
	return []schema.Function{
		{Name: GuestAPI, Description: "Serves guests", Secrets: []string{"CursorSecret"}},
		{Name: StaffAPI, Description: "Serves the staff", Secrets: []string{"CursorSecret", "WebhookSecret"},
			Gets: reports},
		{Name: Announcer, Description: "Hands new and cancelled bookings on", Sends: []string{WaitList, HotelHook},
			Trigger: schema.OnOther{}},
		{
			Name: WaitList, Description: "Gives nights that are free again to guests who wait", Timeout: time.Minute,
			Trigger: schema.OnQueue{Variable: WaitListQueue, Retries: WaitListPlan, Messages: "freed nights"},
		},
		{
			Name: HotelHook, Description: "Tells the hotel of bookings by webhooks", Secrets: []string{"WebhookSecret"},
			Trigger: schema.OnQueue{Variable: WebhookQueue, Retries: WebhookPlan, Messages: "webhooks"},
		},
		{
			Name: Reminder, Description: "Reminds guests of the next day's arrival", Timeout: time.Minute,
			Trigger: schema.OnSchedule{Every: 5 * time.Minute},
		},
		{
			Name: Reporter, Description: "Reports the arrivals of the day", Timeout: time.Minute, Puts: reports,
			Trigger: schema.OnSchedule{Cron: "0 5 * * ? *", TimeZone: Zone},
		},
		{Name: Postman, Description: "Writes messages to guests", Trigger: schema.OnOther{}},
	}
}

func tables() []schema.Table {
	return []schema.Table{
		{
			Name: "Rooms", PhysicalName: "rooms", Description: "Kinds of rooms, in one list.",
			Key: schema.Key{Partition: "hotel", Sort: "kind"}, Attributes: schema.AttributesOf(Room{}),
		},
		{
			Name: "Nights", PhysicalName: "nights", Description: "How many rooms of a kind are taken in a night.",
			Key: schema.Key{Partition: "kind", Sort: "night"}, TimeToLive: "expires_at",
			Attributes: schema.AttributesOf(Night{}),
		},
		{
			Name: "Bookings", PhysicalName: "bookings", Description: "Bookings, by id.",
			Key: schema.Key{Partition: "id"}, TimeToLive: "expires_at", Stream: schema.StreamNewAndOldImages,
			Attributes: schema.AttributesOf(Booking{}),
			Indexes: []schema.Index{
				{Name: "ByGuest", Key: schema.Key{Partition: "guest", Sort: "arrival"},
					Description: "A guest's bookings."},
				{Name: "ByArrival", Key: schema.Key{Partition: "arrival", Sort: "id"},
					Description: "Bookings by their first day."},
				{Name: "ByReminder", Key: schema.Key{Partition: "due_on", Sort: "due_at"},
					Projection:  schema.ProjectKeysOnly,
					Description: "Bookings by their reminder. Sparse: only those whose guest is to be reminded."},
			},
		},
		{
			Name: "Waiting", PhysicalName: "waiting", Description: "The waiting list of each kind, by arrival.",
			Key: schema.Key{Partition: "kind", Sort: "place"}, TimeToLive: "expires_at",
			Attributes: schema.AttributesOf(Waiting{}),
			Indexes: []schema.Index{{Name: "ByGuest", Key: schema.Key{Partition: "guest", Sort: "place"},
				Description: "What a guest waits for."}},
		},
		{
			Name: "Messages", PhysicalName: "messages", Description: "Messages to guests.",
			Key: schema.Key{Partition: "guest", Sort: "id"}, TimeToLive: "expires_at",
			Attributes: schema.AttributesOf(Message{}),
		},
		{
			Name: "Reports", PhysicalName: "reports", Description: "Which reports are in the bucket, by day.",
			Key: schema.Key{Partition: "day"}, Attributes: schema.AttributesOf(MadeReport{}),
		},
		{
			Name: "Settings", PhysicalName: "settings", Description: "Settings of the hotel, by name.",
			Key: schema.Key{Partition: "name"}, Attributes: schema.AttributesOf(Endpoint{}),
		},
		{
			Name: "Requests", PhysicalName: "requests", Description: "Idempotency keys, and counters of rate limits.",
			Key: schema.Key{Partition: "id"}, TimeToLive: "expires_at",
			Attributes: append(append(schema.IdempotencyAttributes(), schema.RateLimitAttributes()...),
				schema.String.Attribute("id", "KEY# or COUNT#, and what it is of"),
				schema.Number.Attribute("expires_at",
					"Unix seconds after which the item may be deleted (TTL attribute)"),
			),
		},
	}
}

func accessPatterns() []schema.AccessPattern {
	take := schema.UpdateItem.On("Nights", "one room more is taken, if one is free").ForEach()
	return schema.UsedBy(GuestAPI, append([]schema.AccessPattern{
		schema.Query.Pattern("ListRooms", "Rooms", "The kinds of rooms.").
			By("", schema.Where("hotel", schema.Equal)).UsedBy(GuestAPI, Reporter),
		schema.GetItem.Pattern("GetRoom", "Rooms", "A kind of rooms.").Eventually().UsedBy(GuestAPI, WaitList),
		schema.PutItem.Pattern("PutRoom", "Rooms", "Store a kind of rooms.").UsedBy(StaffAPI),
		schema.Query.Pattern("ListNights", "Nights", "What is taken in the nights of a stay.").
			By("", schema.Where("kind", schema.Equal), schema.Where("night", schema.Between)).Consistently().
			UsedBy(GuestAPI, WaitList),
		schema.BatchGetItem.Pattern("GetNights", "Nights", "What is taken in one night, of each kind.").
			UsedBy(Reporter),
		schema.Transaction("Book", "Take the nights of a stay and store the booking, with the answer to the request.",
			take, schema.PutItem.On("Bookings", "the booking"), schema.KeepAnswer("Requests")),
		schema.GetItem.Pattern("GetBooking", "Bookings", "A booking as it is now."),
		schema.Query.Pattern("ListBookings", "Bookings", "A guest's bookings, the latest arrival first.").
			By("ByGuest", schema.Where("guest", schema.Equal)).Downwards(),
		schema.Query.Pattern("ListArrivals", "Bookings", "The bookings of one first day.").
			By("ByArrival", schema.Where("arrival", schema.Equal)).UsedBy(StaffAPI, Reporter),
		schema.Transaction("Cancel", "Cancel a booking, and give its nights back.",
			schema.UpdateItem.On("Bookings", "it is cancelled, if it was booked"),
			schema.UpdateItem.On("Nights", "one room less is taken").ForEach()),
		schema.Query.Pattern("ListDue", "Bookings", "The reminders that are due, of one day.").
			By("ByReminder", schema.Where("due_on", schema.Equal), schema.Where("due_at", schema.LessOrEqual)).
			UsedBy(Reminder),
		schema.UpdateItem.Pattern("MarkReminded", "Bookings", "Note that the guest is reminded, once.").
			UsedBy(Reminder),
		schema.Transaction("Wait", "Join the waiting list, with the answer to the request.",
			schema.ConditionCheckItem.On("Nights", "a night of the stay is still full"),
			schema.PutItem.On("Waiting", "the place on the list"), schema.KeepAnswer("Requests")),
		schema.Query.Pattern("ListOwnWaiting", "Waiting", "What a guest waits for.").
			By("ByGuest", schema.Where("guest", schema.Equal)),
		schema.Query.Pattern("ListWaiting", "Waiting", "Who waits for rooms of a kind, by arrival.").
			By("", schema.Where("kind", schema.Equal), schema.Where("place", schema.Between)).Consistently().
			UsedBy(WaitList),
		schema.DeleteItem.Pattern("LeaveWaiting", "Waiting", "Leave the waiting list, if the place is the caller's."),
		schema.Transaction("BookWaiting", "Give a guest who waits the nights of the stay.",
			take, schema.PutItem.On("Bookings", "the booking"),
			schema.DeleteItem.On("Waiting", "the place on the list, if it is still there")).UsedBy(WaitList),
		schema.PutItem.Pattern("PutMessage", "Messages", "Store a message, once.").UsedBy(Postman),
		schema.Query.Pattern("ListMessages", "Messages", "A guest's messages, the newest first.").
			By("", schema.Where("guest", schema.Equal)).Downwards(),
		schema.PutItem.Pattern("PutReport", "Reports", "Note that there is a report of a day.").UsedBy(Reporter),
		schema.GetItem.Pattern("GetReport", "Reports", "Whether there is a report of a day.").UsedBy(StaffAPI),
		schema.GetItem.Pattern("GetEndpoint", "Settings", "Where the hotel wants its webhooks.").UsedBy(HotelHook),
		schema.PutItem.Pattern("PutEndpoint", "Settings", "Store where the hotel wants its webhooks.").
			UsedBy(StaffAPI),
	}, append(schema.IdempotencyPatterns("Requests"), schema.RateLimitPatterns("Requests")...)...)...)
}

func events() []schema.Event {
	changed := func(status string) []map[string]any {
		return []map[string]any{{"eventName": []any{"MODIFY"}, "dynamodb": map[string]any{
			"NewImage": map[string]any{"status": map[string]any{"S": []any{status}}}}}}
	}
	return []schema.Event{
		{Name: BookingMade, Version: 1, Description: "A guest has a room, booked or from the waiting list.",
			Table: "Bookings", Changes: []map[string]any{{"eventName": []any{"INSERT"}}}, Detail: BookingEvent{}},
		{Name: BookingCancelled, Version: 1, Description: "A guest has cancelled a booking.",
			Table: "Bookings", Changes: changed(Cancelled), Before: true, Detail: BookingEvent{}},
		{Name: ReminderDue, Version: 1, Description: "A guest arrives on the next day.",
			Table: "Bookings", Changes: changed(Booked), Before: true, Detail: BookingEvent{}},
	}
}

func lake() schema.Lake {
	return schema.Lake{
		Name: "booking", Table: "Bookings",
		Entities: []schema.Entity{{
			Name: "booking", Description: "A room for a guest", Columns: schema.ColumnsOf(Booking{}),
			Omit: []string{"guest", "zone", "remind_at", "due_on", "due_at", "reminded_at", "expires_at"},
		}},
		Queries: []schema.SavedQuery{{
			Name: "Bookings by kind", Description: "How many bookings of each kind were made, and cancelled",
			SQL: `SELECT kind, count(DISTINCT id) AS made,
  count(DISTINCT CASE WHEN status = 'cancelled' THEN id END) AS cancelled
FROM booking_changes
GROUP BY kind
ORDER BY kind`,
		}},
	}
}
