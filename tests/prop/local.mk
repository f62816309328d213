# tests/prop
