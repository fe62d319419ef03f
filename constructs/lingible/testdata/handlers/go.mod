module handlers

go 1.24
