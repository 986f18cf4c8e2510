package main

import (
	"bytes"
	"flag"
	"fmt"
	"strings"
	"sync/atomic"
)

var rpc = flag.String("rpc", "", "ask a chain's node: call, block, batch or logs; empty: ask for chat")

const (
	batchItems = 20
	// Blocks that -rpc=block asks for in turn: few, so that a cache has them all after the warm-up.
	blocks = 256
	// Digits of a number that stand for another number in each request.
	digits = "0000000000000000"
)

var hexDigits = "0123456789abcdef"

// turn numbers the items of all requests, so that no two calls are the same.
var turn atomic.Uint64

func rpcItem(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"eth_call","params":[{"to":"0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48",`+
		`"data":"0x70a082310000000000000000000000000000000000000000%s"},"latest"]}`, id, strings.Repeat("0", 8)+digits)
}

func rpcBody() string {
	switch *rpc {
	case "block":
		return `{"jsonrpc":"2.0","id":1,"method":"eth_getBlockByNumber","params":["0x10000",false]}`
	case "logs":
		return `{"jsonrpc":"2.0","id":1,"method":"eth_getLogs","params":[{"fromBlock":"0x1","toBlock":"latest"}]}`
	case "batch":
		all := make([]string, batchItems)
		for i := range all {
			all[i] = rpcItem(i)
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	return rpcItem(1)
}

// rpcTurn writes other numbers into a request of a client's own.
func rpcTurn(request []byte) {
	write := func(at int, width int, value uint64) {
		for i := at + width - 1; i >= at; i-- {
			request[i] = hexDigits[value&15]
			value >>= 4
		}
	}
	if *rpc == "block" {
		write(bytes.Index(request, []byte(`"0x1`))+4, 4, turn.Add(1)%blocks)
		return
	}
	mark := []byte(`0x70a08231`)
	for at := bytes.Index(request, mark); at >= 0; {
		write(at+len(mark)+48, len(digits), turn.Add(1))
		next := bytes.Index(request[at+1:], mark)
		if next < 0 {
			return
		}
		at += 1 + next
	}
}

var resultMark = []byte(`"result":`)

func checkRpc(body []byte) string {
	want := 1
	if *rpc == "batch" {
		want = batchItems
	}
	if *rpc == "logs" {
		if !bytes.HasSuffix(body, []byte("]}")) {
			return "logs that are cut off"
		}
		return ""
	}
	if got := bytes.Count(body, resultMark); got != want {
		return fmt.Sprintf("%d results of %d: %.200s", got, want, body)
	}
	return ""
}
