// The load: -clients connections that ask one after another, each answer read to its end and checked.
// Prints one JSON object. It is written on bare connections so that it takes little from the machine that it
// shares with what it measures.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"sort"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

var (
	address  = flag.String("address", "", "host:port to ask")
	path     = flag.String("path", "/v1/chat/completions", "path to ask")
	key      = flag.String("key", "", "bearer key")
	clients  = flag.Int("clients", 1, "connections")
	duration = flag.Duration("duration", 5*time.Second, "how long to ask")
	requests = flag.Int64("requests", 0, "stop after this many requests (0: by duration alone)")
	rate     = flag.Int("rate", 0, "requests a second in all (0: as fast as answers come)")
	stream   = flag.Bool("stream", false, "ask for a stream of events")
	events   = flag.Int("events", 50, "content events that a whole stream has")
	model    = flag.String("model", "bench-model", "model to name")
)

type sample struct{ first, whole time.Duration }

type client struct {
	samples []sample
	errors  map[string]int
	chunks  int64
}

func requestBytes() []byte {
	options := ""
	if *stream {
		options = `,"stream":true,"stream_options":{"include_usage":true}`
	}
	body := `{"model":"` + *model + `","messages":[{"role":"system","content":"You are a helpful assistant."},` +
		`{"role":"user","content":"Say something short and friendly, please."}],"temperature":0.7,"max_tokens":256` + options + `}`
	if *rpc != "" {
		body = rpcBody()
	}
	return []byte(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
		"Accept: */*\r\nContent-Length: %d\r\n\r\n%s", *path, *address, *key, len(body), body))
}

type head struct {
	status  int
	length  int
	chunked bool
	close   bool
}

func readHead(in *bufio.Reader) (head, error) {
	result := head{length: -1}
	line, err := in.ReadSlice('\n')
	if err != nil {
		return result, err
	}
	if len(line) < 12 {
		return result, fmt.Errorf("bad status line %q", line)
	}
	result.status, _ = strconv.Atoi(string(line[9:12]))
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return result, err
		}
		if len(line) <= 2 {
			return result, nil
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimSpace(value)
		switch {
		case bytes.EqualFold(name, []byte("content-length")):
			result.length, _ = strconv.Atoi(string(value))
		case bytes.EqualFold(name, []byte("transfer-encoding")):
			result.chunked = bytes.EqualFold(value, []byte("chunked"))
		case bytes.EqualFold(name, []byte("connection")):
			result.close = bytes.EqualFold(value, []byte("close"))
		}
	}
}

// readBody reads to the end and says when the first byte of it had come.
func readBody(in *bufio.Reader, h head, into []byte) ([]byte, time.Time, error) {
	var first time.Time
	if !h.chunked {
		if h.length < 0 {
			return into, first, fmt.Errorf("an answer without a length")
		}
		if cap(into) < h.length {
			into = make([]byte, 0, h.length)
		}
		into = into[:h.length]
		_, err := io.ReadFull(in, into)
		return into, time.Now(), err
	}
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return into, first, err
		}
		size, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 16, 32)
		if err != nil {
			return into, first, err
		}
		if first.IsZero() {
			first = time.Now()
		}
		start := len(into)
		for cap(into) < start+int(size)+2 {
			into = append(into[:cap(into)], 0)
		}
		into = into[:start+int(size)+2]
		if _, err := io.ReadFull(in, into[start:]); err != nil {
			return into, first, err
		}
		into = into[:start+int(size)]
		if size == 0 {
			return into, first, nil
		}
	}
}

var (
	contentMark = []byte(`"content":" token`)
	usageMark   = []byte(`"usage":{`)
	doneMark    = []byte("data: [DONE]")
	answerMark  = []byte("A short and friendly answer.")
)

// check says what is wrong with an answer, or nothing.
func check(status int, body []byte) string {
	if status != 200 {
		return fmt.Sprintf("status %d: %.200s", status, body)
	}
	if *rpc != "" {
		return checkRpc(body)
	}
	if !*stream {
		if !bytes.Contains(body, answerMark) {
			return fmt.Sprintf("not the upstream's answer: %.200s", body)
		}
		return ""
	}
	if got := bytes.Count(body, contentMark); got != *events {
		return fmt.Sprintf("%d content events of %d", got, *events)
	}
	if !bytes.Contains(body, usageMark) || !bytes.Contains(body, doneMark) {
		return "a stream without its usage or its end"
	}
	return ""
}

func (c *client) fail(reason string) { c.errors[reason]++ }

func (c *client) run(request []byte, until time.Time, next func() bool) {
	var conn net.Conn
	var in *bufio.Reader
	buffer := make([]byte, 0, 64<<10)
	for time.Now().Before(until) && next() {
		if conn == nil {
			var err error
			if conn, err = net.Dial("tcp", *address); err != nil {
				c.fail(err.Error())
				time.Sleep(10 * time.Millisecond)
				continue
			}
			in = bufio.NewReaderSize(conn, 32<<10)
		}
		if *rpc != "" {
			rpcTurn(request)
		}
		started := time.Now()
		_, err := conn.Write(request)
		var h head
		if err == nil {
			h, err = readHead(in)
		}
		var first time.Time
		var body []byte
		if err == nil {
			body, first, err = readBody(in, h, buffer[:0])
			buffer = body
		}
		if err != nil {
			c.fail(err.Error())
			conn.Close()
			conn = nil
			continue
		}
		if reason := check(h.status, body); reason != "" {
			c.fail(reason)
		} else {
			c.samples = append(c.samples, sample{first.Sub(started), time.Since(started)})
		}
		if h.close {
			conn.Close()
			conn = nil
		}
	}
	if conn != nil {
		conn.Close()
	}
}

// pacer gives out turns: unlimited, by count, and at a rate.
func pacer(started time.Time) func() bool {
	var taken atomic.Int64
	return func() bool {
		turn := taken.Add(1)
		if *requests > 0 && turn > *requests {
			return false
		}
		if *rate > 0 {
			time.Sleep(time.Until(started.Add(time.Duration(turn) * time.Second / time.Duration(*rate))))
		}
		return true
	}
}

func percentile(values []time.Duration, share float64) float64 {
	if len(values) == 0 {
		return 0
	}
	return float64(values[min(len(values)-1, int(float64(len(values))*share))].Microseconds()) / 1000
}

func percentiles(samples []sample, of func(sample) time.Duration) map[string]float64 {
	values := make([]time.Duration, len(samples))
	for i, s := range samples {
		values[i] = of(s)
	}
	sort.Slice(values, func(i, j int) bool { return values[i] < values[j] })
	return map[string]float64{
		"p50": percentile(values, 0.5), "p95": percentile(values, 0.95), "p99": percentile(values, 0.99), "max": percentile(values, 1),
	}
}

func main() {
	flag.Parse()
	all := make([]*client, *clients)
	started := time.Now()
	next := pacer(started)
	var group sync.WaitGroup
	for i := range all {
		all[i] = &client{errors: map[string]int{}}
		group.Add(1)
		go func(c *client) {
			defer group.Done()
			c.run(requestBytes(), started.Add(*duration), next)
		}(all[i])
	}
	group.Wait()
	seconds := time.Since(started).Seconds()
	var samples []sample
	failures := map[string]int{}
	for _, c := range all {
		samples = append(samples, c.samples...)
		for reason, count := range c.errors {
			failures[reason] += count
		}
	}
	result := map[string]any{
		"answers": len(samples),
		"seconds": seconds,
		"errors":  failures,
		"firstMs": percentiles(samples, func(s sample) time.Duration { return s.first }),
		"wholeMs": percentiles(samples, func(s sample) time.Duration { return s.whole }),
	}
	if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
		log.Fatal(err)
	}
}
