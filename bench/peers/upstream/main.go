// A scripted model server that costs next to nothing: the same answer every time, as fast as it can, or
// one event each -pace. It speaks just enough HTTP/1.1 for proxies that keep connections open.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"strconv"
	"strings"
	"time"
)

const model = "bench-model"

var (
	events = flag.Int("events", 50, "content events of a stream")
	pace   = flag.Duration("pace", 0, "pause before each event of a stream but the first")
)

func response(contentType string, body string) []byte {
	return []byte(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", contentType, len(body), body))
}

var models = response("application/json",
	`{"object":"list","data":[{"id":"`+model+`","object":"model","created":1700000000,"owned_by":"bench"}]}`)

var completion = response("application/json",
	`{"id":"chatcmpl-bench","object":"chat.completion","created":1700000000,"model":"`+model+`","choices":[{"index":0,`+
		`"message":{"role":"assistant","content":"`+strings.Repeat("A short and friendly answer. ", 8)+`"},"finish_reason":"stop"}],`+
		`"usage":{"prompt_tokens":24,"completion_tokens":56,"total_tokens":80}}`)

var notFound = []byte("HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")

const streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

func chunk(event string) string {
	data := "data: " + event + "\n\n"
	return fmt.Sprintf("%x\r\n%s\r\n", len(data), data)
}

func delta(fields string, finish string) string {
	return `{"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1700000000,"model":"` + model +
		`","choices":[{"index":0,"delta":{` + fields + `},"finish_reason":` + finish + `}]}`
}

// pieces of a stream, one write each.
func stream() [][]byte {
	pieces := make([][]byte, 0, *events+1)
	for i := 0; i < *events; i++ {
		piece := chunk(delta(`"content":" token`+strconv.Itoa(i)+`"`, "null"))
		if i == 0 {
			piece = streamHead + piece
		}
		pieces = append(pieces, []byte(piece))
	}
	end := chunk(delta("", `"stop"`)) +
		chunk(`{"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1700000000,"model":"`+model+
			`","choices":[],"usage":{"prompt_tokens":24,"completion_tokens":`+strconv.Itoa(*events)+`,"total_tokens":`+
			strconv.Itoa(24+*events)+`}}`) +
		chunk("[DONE]") + "0\r\n\r\n"
	return append(pieces, []byte(end))
}

// body reads the rest of a request whose head said how long it is; chunked bodies too.
func body(in *bufio.Reader, length int, chunked bool) ([]byte, error) {
	if !chunked {
		data := make([]byte, length)
		_, err := io.ReadFull(in, data)
		return data, err
	}
	var data []byte
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		size, err := strconv.ParseInt(strings.TrimSpace(line), 16, 32)
		if err != nil {
			return nil, err
		}
		part := make([]byte, size+2)
		if _, err := io.ReadFull(in, part); err != nil {
			return nil, err
		}
		if size == 0 {
			return data, nil
		}
		data = append(data, part[:size]...)
	}
}

func serve(conn net.Conn, pieces [][]byte) error {
	defer conn.Close()
	in := bufio.NewReaderSize(conn, 16<<10)
	for {
		requestLine, err := in.ReadString('\n')
		if err != nil {
			return err
		}
		length, chunked := 0, false
		for {
			line, err := in.ReadSlice('\n')
			if err != nil {
				return err
			}
			if len(line) <= 2 {
				break
			}
			name, value, _ := bytes.Cut(line, []byte(":"))
			if bytes.EqualFold(name, []byte("content-length")) {
				length, _ = strconv.Atoi(string(bytes.TrimSpace(value)))
			} else if bytes.EqualFold(name, []byte("transfer-encoding")) {
				chunked = true
			}
		}
		request, err := body(in, length, chunked)
		if err != nil {
			return err
		}
		switch {
		case strings.Contains(requestLine, "/models"):
			_, err = conn.Write(models)
		case !strings.Contains(requestLine, "/chat/completions"):
			_, err = conn.Write(notFound)
		case bytes.Contains(request, []byte(`"stream":true`)):
			err = send(conn, pieces)
		default:
			_, err = conn.Write(completion)
		}
		if err != nil {
			return err
		}
	}
}

func send(conn net.Conn, pieces [][]byte) error {
	for i, piece := range pieces {
		if *pace > 0 && i > 0 {
			time.Sleep(*pace)
		}
		if _, err := conn.Write(piece); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "address to serve on")
	flag.Parse()
	pieces := stream()
	server, err := net.Listen("tcp", *listen)
	if err != nil {
		log.Fatal(err)
	}
	for {
		conn, err := server.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			log.Fatal(err)
		}
		go serve(conn, pieces)
	}
}
