import { afterAll, expect, test } from "bun:test";
import { createServer, type Server, type Socket } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { TEST_CERTIFICATE, TEST_CERTIFICATE_KEY } from "../../../test/support/tls-certificate.ts";
import { PublicFetchFault, type PublicGet } from "./port.ts";
import { createPublicFetch, type PublicFetchOptions } from "./public-fetch.ts";

/** An address of the internet that stands for the local server; nothing of these tests leaves the machine. */
const PUBLIC = "93.184.216.34";
const GOOD_NAME = "site.example";
const cleanups: (() => void)[] = [];
afterAll(() => {
	for (const clean of cleanups) clean();
});

function site(respond: (request: Request) => Response | Promise<Response>) {
	const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: respond });
	cleanups.push(() => void server.stop(true));
	return at(server.port ?? 0);
}

/** A server that writes raw bytes. */
async function rawSite(serve: (socket: Socket) => void) {
	const server: Server = createServer((socket) => {
		socket.on("error", () => {});
		socket.once("data", () => serve(socket));
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	cleanups.push(() => void server.close());
	const address = server.address();
	return at(typeof address === "object" && address !== null ? address.port : 0);
}

/** Reads through the guard: names resolve to `names`, and only PUBLIC leads to the local server. */
function at(port: number) {
	const asked: string[] = [];
	const dialled: string[] = [];
	const reader = (options: Partial<PublicFetchOptions> = {}) =>
		createPublicFetch({
			userAgent: () => "Turnpike/test (+mailto:op@site.example)",
			trustedHosts: () => [],
			resolve: async (host) => {
				asked.push(host);
				return host.endsWith("private.example") ? ["10.0.0.7"] : host === "both.example" ? [PUBLIC, "127.0.0.1"] : [PUBLIC];
			},
			dial: (address) => {
				dialled.push(address);
				return address === PUBLIC ? { host: "127.0.0.1", port } : { host: "127.0.0.1", port: 9 };
			},
			...options,
		});
	const get = (path = "/", wanted: Partial<PublicGet> = {}, options: Partial<PublicFetchOptions> = {}) =>
		reader(options).get(path.startsWith("/") ? `http://${GOOD_NAME}${path}` : path, {
			tenant: "test",
			signal: new AbortController().signal,
			maxBytes: 100_000,
			...wanted,
		});
	return { get, reader, asked, dialled, port };
}

async function kindOf(reading: Promise<unknown>): Promise<string> {
	try {
		await reading;
	} catch (fault) {
		if (fault instanceof PublicFetchFault) return fault.kind;
		throw fault;
	}
	return "none";
}
const textOf = ({ bytes }: { bytes: Uint8Array }) => new TextDecoder().decode(bytes);

test("reads a page, and says who reads it and nothing else", async () => {
	const { get, asked, dialled } = site((request) => Response.json(Object.fromEntries(request.headers)));
	const answer = await get("/a?b=c#d", { accept: "text/html" });
	expect(answer).toMatchObject({ url: `http://${GOOD_NAME}/a?b=c#d`, status: 200 });
	expect(answer.headers.get("content-type")).toStartWith("application/json");
	expect(JSON.parse(textOf(answer))).toEqual({
		host: GOOD_NAME,
		"user-agent": "Turnpike/test (+mailto:op@site.example)",
		accept: "text/html",
		"accept-encoding": "gzip, deflate, br",
		connection: "close",
	});
	expect(asked).toEqual([GOOD_NAME]);
	expect(dialled).toEqual([PUBLIC]);
});

test("connects to no host that has a private address, not even to its public one", async () => {
	const { get, dialled } = site(() => new Response("inside"));
	for (const url of ["http://private.example/", "http://both.example/", "http://127.0.0.1/", "http://[::1]/", "http://10.0.0.7/"])
		expect(await kindOf(get(url)), url).toBe("private");
	expect(dialled).toEqual([]);
});

test("a name that changes its address between the check and the connection wins nothing", async () => {
	const answers = [[PUBLIC], ["127.0.0.1"], ["127.0.0.1"]];
	const { get, dialled } = site(() => new Response("the public page"));
	const answer = await get("/", {}, { resolve: async () => answers.shift() ?? [] });
	expect(textOf(answer)).toBe("the public page");
	expect(dialled).toEqual([PUBLIC]);
	expect(answers).toHaveLength(2);
});

test.each(["http://127.0.0.1/", "http://169.254.169.254/latest/", "http://0x7f000001/", "//private.example/", "http://[::1]/"])(
	"a redirect to %s is not followed",
	async (location) => {
		const { get, dialled } = site(() => new Response(null, { status: 302, headers: { location } }));
		expect(await kindOf(get())).toBe("private");
		expect(dialled).toEqual([PUBLIC]);
	},
);

test("a redirect to a file, or with a password, is refused", async () => {
	for (const location of ["file:///etc/passwd", "http://a:b@site.example/"]) {
		const { get } = site(() => new Response(null, { status: 301, headers: { location } }));
		expect(await kindOf(get()), location).toBe("url");
	}
});

test("follows five redirects, relative ones too, and no sixth", async () => {
	const { get, asked } = site((request) => {
		const step = Number(new URL(request.url).pathname.slice(1));
		return step === 0 ? new Response("there") : new Response(null, { status: 307, headers: { location: `./${step - 1}` } });
	});
	const answer = await get("/5");
	expect(answer.url).toBe(`http://${GOOD_NAME}/0`);
	expect(textOf(answer)).toBe("there");
	expect(asked).toHaveLength(6);
	expect(await kindOf(get("/6"))).toBe("redirects");
});

test("what is asked before an address may take longer than the address may be silent", async () => {
	const { get } = site(() => new Response("there"));
	const answer = await get("/", { idleMs: 50, allow: () => new Promise((resolve) => setTimeout(resolve, 120)) });
	expect(textOf(answer)).toBe("there");
});

test("asks before each address, and ends with what is thrown", async () => {
	const { get, dialled } = site(() => new Response(null, { status: 302, headers: { location: "/forbidden" } }));
	const seen: string[] = [];
	const reading = get("/", {
		allow: (url) => {
			seen.push(url.pathname);
			if (url.pathname === "/forbidden") throw new RangeError("not this one");
		},
	});
	await expect(reading).rejects.toThrow("not this one");
	expect(seen).toEqual(["/", "/forbidden"]);
	expect(dialled).toHaveLength(1);
});

test("the operator's private hosts are read", async () => {
	const { get, port } = site(() => new Response("the intranet"));
	const answer = await get(
		`http://127.0.0.1:${port}/`,
		{},
		{ trustedHosts: () => [`127.0.0.1:${port}`], dial: (host) => ({ host, port }) },
	);
	expect(textOf(answer)).toBe("the intranet");
});

test("an answer that is no 2xx comes without its body, and is a fault where only a good one will do", async () => {
	const { get, reader } = site(() => new Response("nothing here", { status: 404 }));
	expect(await get()).toMatchObject({ status: 404, bytes: new Uint8Array() });
	const reading = reader().read(`http://${GOOD_NAME}/`, { tenant: "test", signal: new AbortController().signal, maxBytes: 10 });
	expect(await kindOf(reading)).toBe("status");
});

test("decompresses what it asked for", async () => {
	const bodies = { gzip: gzipSync("text"), deflate: deflateSync("text"), br: brotliCompressSync("text") };
	for (const [encoding, body] of Object.entries(bodies)) {
		const { get } = site(() => new Response(new Uint8Array(body), { headers: { "content-encoding": encoding } }));
		expect(textOf(await get()), encoding).toBe("text");
	}
});

test("refuses an encoding that was not asked for, and one that does not hold", async () => {
	const unknown = site(() => new Response("text", { headers: { "content-encoding": "zstd, gzip" } }));
	expect(await kindOf(unknown.get())).toBe("encoding");
	const wrong = site(() => new Response("no gzip", { headers: { "content-encoding": "gzip" } }));
	expect(await kindOf(wrong.get())).toBe("encoding");
	const cut = site(
		() => new Response(new Uint8Array(gzipSync("x".repeat(9_999)).subarray(0, 20)), { headers: { "content-encoding": "gzip" } }),
	);
	expect(await kindOf(cut.get())).toBe("encoding");
});

test("refuses by the declared length before a byte is read, and by the bytes that come", async () => {
	const declared = await rawSite((socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100001\r\n\r\n"));
	expect(await kindOf(declared.get())).toBe("too_large");
	let sent = 0;
	const endless = site(
		() =>
			new Response(
				new ReadableStream({
					pull(controller) {
						sent += 65_536;
						controller.enqueue(new Uint8Array(65_536));
					},
				}),
			),
	);
	expect(await kindOf(endless.get())).toBe("too_large");
	expect(sent).toBeLessThan(20_000_000);
});

test("of a body that may be cut off, only the beginning is read", async () => {
	const declared = await rawSite((socket) =>
		socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 500000\r\n\r\n${"a".repeat(9_999)}`),
	);
	expect(textOf(await declared.get("/", { maxBytes: 100, cutOff: true }))).toBe("a".repeat(100));
	const short = site(() => new Response("whole"));
	expect(textOf(await short.get("/", { maxBytes: 100, cutOff: true }))).toBe("whole");
});

test("a bomb is refused while it inflates", async () => {
	const bomb = new Uint8Array(gzipSync(new Uint8Array(200_000_000)));
	const { get } = site(() => new Response(bomb, { headers: { "content-encoding": "gzip" } }));
	const before = process.memoryUsage.rss();
	expect(await kindOf(get("/", { maxBytes: 1_000_000 }))).toBe("too_large");
	expect(process.memoryUsage.rss() - before).toBeLessThan(100_000_000);
});

test("all readings together hold no more than they may, and let go of it when they end", async () => {
	const { reader } = site(() => new Response("x".repeat(60_000)));
	const shared = reader({ maxBytesInFlight: 100_000 });
	const read = () =>
		shared.get(`http://${GOOD_NAME}/`, { tenant: "test", signal: new AbortController().signal, maxBytes: 60_000 });
	for (let time = 0; time < 4; time += 1) expect((await read()).bytes).toHaveLength(60_000);
	const narrow = reader({ maxBytesInFlight: 50_000 });
	for (let time = 0; time < 2; time += 1)
		expect(
			await kindOf(
				narrow.get(`http://${GOOD_NAME}/`, { tenant: "test", signal: new AbortController().signal, maxBytes: 60_000 }),
			),
		).toBe("busy");
});

test("a body shorter than declared is no answer", async () => {
	const { get } = await rawSite((socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\nhalf"));
	expect(await kindOf(get())).toBe("unreachable");
});

test("bytes behind the declared length are not read", async () => {
	const { get } = await rawSite((socket) =>
		socket.end("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ntextHTTP/1.1 200 OK\r\n\r\n"),
	);
	expect(textOf(await get())).toBe("text");
});

test("what is no HTTP is no answer", async () => {
	const { get } = await rawSite((socket) => socket.end("220 mail.example ESMTP\r\n"));
	expect(await kindOf(get())).toBe("unreachable");
});

test("a slow drip ends with the time for the whole", async () => {
	const { get } = await rawSite((socket) => {
		socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n");
		const drip = setInterval(() => socket.write("x"), 20);
		socket.on("close", () => clearInterval(drip));
	});
	expect(await kindOf(get("/", { totalMs: 300, idleMs: 60_000 }))).toBe("timeout");
});

test("silence ends the reading: before the headers, in the body, and of a resolver", async () => {
	const mute = await rawSite(() => {});
	expect(await kindOf(mute.get("/", { idleMs: 50 }))).toBe("timeout");
	const halfway = await rawSite((socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf"));
	expect(await kindOf(halfway.get("/", { idleMs: 50 }))).toBe("timeout");
	expect(await kindOf(mute.get("/", { idleMs: 50 }, { resolve: () => new Promise(() => {}) }))).toBe("timeout");
});

test("a caller that leaves ends the reading, and the site's connection", async () => {
	const closed = Promise.withResolvers<void>();
	const leave = new AbortController();
	const { get } = await rawSite((socket) => {
		socket.on("close", () => closed.resolve());
		socket.write("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf");
		leave.abort(new RangeError("left"));
	});
	const reading = get("/", { signal: leave.signal });
	await expect(reading).rejects.toThrow("left");
	await closed.promise;
	await expect(get("/", { signal: leave.signal })).rejects.toThrow("left");
});

test("another address of the host is tried where one cannot be reached", async () => {
	const { get, dialled } = site(() => new Response("there"));
	expect(textOf(await get("/", {}, { resolve: async () => ["93.184.216.35", PUBLIC] }))).toBe("there");
	expect(dialled).toEqual(["93.184.216.35", PUBLIC]);
	expect(await kindOf(get("/", {}, { resolve: async () => ["93.184.216.35"] }))).toBe("unreachable");
});

test("a name without addresses is not known", async () => {
	const { get } = site(() => new Response());
	expect(await kindOf(get("/", {}, { resolve: async () => [] }))).toBe("unknown_host");
	expect(await kindOf(get("/", {}, { resolve: () => Promise.reject(new Error("ENOTFOUND")) }))).toBe("unknown_host");
});

test("the certificate is checked against the URL's name, not against the address that is connected to", async () => {
	const server = Bun.serve({
		hostname: "127.0.0.1",
		port: 0,
		tls: { cert: TEST_CERTIFICATE, key: TEST_CERTIFICATE_KEY },
		fetch: (request) => new Response(`secure ${request.headers.get("host")}`),
	});
	cleanups.push(() => void server.stop(true));
	const { get, dialled } = at(server.port ?? 0);
	expect(textOf(await get("https://site.example/", {}, { ca: TEST_CERTIFICATE }))).toBe("secure site.example");
	expect(dialled).toEqual([PUBLIC]);
	for (const url of ["https://other.example/", `https://${PUBLIC}/`]) {
		const reading = get(url, {}, { ca: TEST_CERTIFICATE });
		await expect(reading, url).rejects.toThrow("has no valid certificate");
	}
	const unknown = get("https://site.example/");
	await expect(unknown).rejects.toThrow("has no valid certificate");
});

test("a proxy of the environment is not asked", async () => {
	const { get } = site(() => new Response("straight"));
	const names = ["HTTP_PROXY", "http_proxy", "ALL_PROXY"];
	const before = names.map((name) => process.env[name]);
	for (const name of names) process.env[name] = "http://127.0.0.1:9";
	try {
		expect(textOf(await get())).toBe("straight");
	} finally {
		for (const [index, name] of names.entries()) {
			const value = before[index];
			if (value === undefined) delete process.env[name];
			else process.env[name] = value;
		}
	}
});
