package booking

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"example.com/booking/hotel"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
)

// Rooms returns the kinds of rooms.
func (s *Service) Rooms(ctx context.Context) (rooms []hotel.Room, err error) {
	rooms = []hotel.Room{}
	for room, err := range dynamo.Read[hotel.Room](ctx, s.DB, "ListRooms", dynamo.Query{Values: []any{hotel.House}}) {
		if err != nil {
			return nil, err
		}
		rooms = append(rooms, room)
	}
	return rooms, nil
}

// PutRoom says how many rooms of a kind there are.
func (s *Service) PutRoom(ctx context.Context, kind string, room hotel.Room) (hotel.Room, error) {
	room.Hotel, room.Kind = hotel.House, kind
	return room, s.DB.Put(ctx, "PutRoom", room, expression.ConditionBuilder{})
}

// Free returns how many rooms of a kind are free, in so many nights from a day on. It returns [hotel.ErrNoRoom].
func (s *Service) Free(ctx context.Context, kind, from string, nights int) ([]hotel.FreeNight, error) {
	room, err := s.room(ctx, kind)
	if err != nil {
		return nil, err
	}
	taken, err := s.taken(ctx, kind, from, hotel.AddDays(from, nights))
	if err != nil {
		return nil, err
	}
	free := make([]hotel.FreeNight, nights)
	for i := range free {
		night := hotel.AddDays(from, i)
		free[i] = hotel.FreeNight{Night: night, Free: max(0, room.Units-taken[night])}
	}
	return free, nil
}
