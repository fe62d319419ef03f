module example.com/m

go 1.26

require example.com/library v0.0.0

replace example.com/library => ./library
