// A scripted node of a chain that costs next to nothing: JSON-RPC over HTTP/1.1, single and in arrays, the same
// answer to a method every time, and one of -logs bytes to eth_getLogs. GET /counts tells the requests and items that
// came. It speaks just enough HTTP for proxies that keep connections open.
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
	"sync/atomic"
)

var (
	logsBytes = flag.Int("logs", 50<<20, "bytes of the answer to eth_getLogs")
	requests  atomic.Int64
	items     atomic.Int64
)

const (
	head   = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
	latest = `"0x1400000"`
	final  = `"0x1300000"`
)

// block of about two kilobytes, as one with some transaction hashes has.
func block(number string) string {
	hash := func(n int) string { return fmt.Sprintf(`"0x%064x"`, n) }
	hashes := make([]string, 16)
	for i := range hashes {
		hashes[i] = hash(i + 1000)
	}
	return `{"number":` + number + `,"hash":` + hash(1) + `,"parentHash":` + hash(2) + `,"stateRoot":` + hash(3) +
		`,"logsBloom":"0x` + strings.Repeat("0", 512) + `","gasLimit":"0x1c9c380","gasUsed":"0x5208","timestamp":"0x65000000"` +
		`,"baseFeePerGas":"0x7","transactions":[` + strings.Join(hashes, ",") + `]}`
}

var word = `"0x` + strings.Repeat("0", 63) + `1"`
var oneLog = []byte(`{"address":"0x` + strings.Repeat("a", 40) + `","topics":[` + word + `,` + word + `],"data":` + word +
	`,"blockNumber":"0x10","transactionHash":` + word + `,"transactionIndex":"0x0","logIndex":"0x0","removed":false},`)

// stringEnd is the index behind the closing quote of the string that begins at i.
func stringEnd(text []byte, i int) int {
	for i++; i < len(text); i++ {
		if text[i] == '\\' {
			i++
		} else if text[i] == '"' {
			return i + 1
		}
	}
	return i
}

// item is what an answer needs of a request.
type item struct{ id, method, params []byte }

// itemsOf reads compact or spaced JSON of one request or of an array of them. Members of objects inside params lie deeper.
func itemsOf(text []byte) (found []item, isArray bool) {
	depth, base := 0, 1
	var current item
	for i := 0; i < len(text); {
		switch text[i] {
		case '[', '{':
			if depth == 0 && text[i] == '[' {
				isArray, base = true, 2
			}
			depth++
			if depth == base && text[i] == '{' {
				current = item{}
			}
			i++
		case ']', '}':
			if depth == base && text[i] == '}' {
				found = append(found, current)
			}
			depth--
			i++
		case '"':
			end := stringEnd(text, i)
			if depth == base && end < len(text) && text[end] == ':' {
				value := end + 1
				switch string(text[i+1 : end-1]) {
				case "id":
					end = value
					if text[value] == '"' {
						end = stringEnd(text, value)
					} else {
						for end < len(text) && text[end] != ',' && text[end] != '}' {
							end++
						}
					}
					current.id = text[value:end]
				case "method":
					end = stringEnd(text, value)
					current.method = text[value+1 : end-1]
				case "params":
					current.params = text[value:]
				}
			}
			i = end
		default:
			i++
		}
	}
	return found, isArray
}

// firstParam is the first parameter where it is a string, quotes included.
func firstParam(params []byte) string {
	if len(params) > 1 && params[1] == '"' {
		return string(params[1:stringEnd(params, 1)])
	}
	return "null"
}

func result(one item) string {
	switch string(one.method) {
	case "eth_chainId":
		return `"0x1"`
	case "eth_blockNumber":
		return latest
	case "eth_getBlockByNumber":
		number := firstParam(one.params)
		switch number {
		case `"finalized"`:
			number = final
		case `"latest"`:
			number = latest
		}
		return block(number)
	}
	return word
}

// logs writes the answer of -logs bytes as it is made.
func logs(conn net.Conn, id []byte) error {
	start := `{"jsonrpc":"2.0","id":` + string(id) + `,"result":[`
	count := *logsBytes / len(oneLog)
	last := bytes.TrimSuffix(oneLog, []byte(","))
	length := len(start) + count*len(oneLog) + len(last) + 2
	if _, err := conn.Write([]byte(head + strconv.Itoa(length) + "\r\n\r\n" + start)); err != nil {
		return err
	}
	const each = 200
	piece := bytes.Repeat(oneLog, each)
	for ; count > 0; count -= each {
		if _, err := conn.Write(piece[:min(count, each)*len(oneLog)]); err != nil {
			return err
		}
	}
	_, err := conn.Write(append(append([]byte{}, last...), "]}"...))
	return err
}

func answer(conn net.Conn, body []byte, out []byte) ([]byte, error) {
	asked, isArray := itemsOf(body)
	requests.Add(1)
	items.Add(int64(len(asked)))
	if !isArray && len(asked) == 1 && string(asked[0].method) == "eth_getLogs" {
		return out, logs(conn, asked[0].id)
	}
	out = out[:0]
	if isArray {
		out = append(out, '[')
	}
	for i, one := range asked {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(out, `{"jsonrpc":"2.0","id":`...), one.id...)
		out = append(append(append(out, `,"result":`...), result(one)...), '}')
	}
	if isArray {
		out = append(out, ']')
	}
	return out, send(conn, out)
}

func send(conn net.Conn, body []byte) error {
	whole := append([]byte(head+strconv.Itoa(len(body))+"\r\n\r\n"), body...)
	_, err := conn.Write(whole)
	return err
}

// readBody reads the rest of a request whose head said how long it is; chunked bodies too.
func readBody(in *bufio.Reader, length int, chunked bool, into []byte) ([]byte, error) {
	if !chunked {
		if cap(into) < length {
			into = make([]byte, length)
		}
		into = into[:length]
		_, err := io.ReadFull(in, into)
		return into, err
	}
	into = into[:0]
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
			return into, nil
		}
		into = append(into, part[:size]...)
	}
}

func serve(conn net.Conn) error {
	defer conn.Close()
	in := bufio.NewReaderSize(conn, 16<<10)
	var body, out []byte
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
		if body, err = readBody(in, length, chunked, body); err != nil {
			return err
		}
		if strings.HasPrefix(requestLine, "GET ") {
			err = send(conn, []byte(fmt.Sprintf(`{"requests":%d,"items":%d}`, requests.Load(), items.Load())))
		} else {
			out, err = answer(conn, body, out)
		}
		if err != nil {
			return err
		}
	}
}

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "address to serve on")
	flag.Parse()
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
		go serve(conn)
	}
}
