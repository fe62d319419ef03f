package library
