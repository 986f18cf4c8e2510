module turnpike/bench/peers

go 1.21
