import { expect, test } from "bun:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { addCors, preferredEncoding, preflight, respond } from "./respond.ts";

const settings = { build: "20260101.000000", corsOrigins: ["*"] };
const request = (headers: Record<string, string> = {}) => new Request("http://x/", { headers });
const long = { status: 200, type: "application/json", body: JSON.stringify({ text: "turnpike ".repeat(500) }) };

test("prefers br to gzip and obeys q=0", () => {
	expect(preferredEncoding("gzip, deflate, br")).toBe("br");
	expect(preferredEncoding("gzip;q=1.0, br;q=0")).toBe("gzip");
	expect(preferredEncoding("GZIP")).toBe("gzip");
	expect(preferredEncoding("deflate, gzip;q=0.000")).toBeNull();
	expect(preferredEncoding(null)).toBeNull();
});

test("compresses whole answers that are long, leaves short ones and streams", async () => {
	const br = respond(long, {}, request({ "accept-encoding": "br, gzip" }), settings);
	expect(br.headers.get("content-encoding")).toBe("br");
	expect(br.headers.get("vary")).toBe("Accept-Encoding");
	expect(brotliDecompressSync(await br.bytes()).toString()).toBe(long.body);
	const gzip = respond(long, {}, request({ "accept-encoding": "gzip" }), settings);
	expect(gunzipSync(await gzip.bytes()).toString()).toBe(long.body);
	const short = respond({ ...long, body: "{}" }, {}, request({ "accept-encoding": "br" }), settings);
	expect(short.headers.get("content-encoding")).toBeNull();
	const stream = new ReadableStream({ start: (c) => c.close() });
	expect(
		respond(
			{ status: 200, type: "text/event-stream", body: stream },
			{},
			request({ "accept-encoding": "br" }),
			settings,
		).headers.get("content-encoding"),
	).toBeNull();
});

test("CORS headers go only to requests with an Origin, and only to allowed ones", () => {
	const headersFor = (origin: string | null, corsOrigins: string[]) => {
		const headers: Record<string, string> = {};
		addCors(headers, request(origin === null ? {} : { origin }), { ...settings, corsOrigins });
		return headers;
	};
	expect(headersFor(null, ["*"])).toEqual({});
	expect(headersFor("https://a.example", ["*"])["Access-Control-Allow-Origin"]).toBe("*");
	expect(headersFor("https://a.example", ["*"])["Access-Control-Expose-Headers"]).toContain("X-Request-ID");
	expect(headersFor("https://a.example", ["https://a.example"])["Access-Control-Allow-Origin"]).toBe("https://a.example");
	expect(headersFor("https://b.example", ["https://a.example"])).toEqual({ Vary: "Origin" });
});

test("a preflight echoes the asked headers and names the methods", () => {
	const asked = {
		origin: "https://a.example",
		"access-control-request-headers": "authorization, x-custom",
		"access-control-request-method": "POST",
	};
	const answer = preflight(request(asked), "0".repeat(32), "POST, OPTIONS", settings);
	expect(answer.status).toBe(204);
	expect(answer.headers.get("access-control-allow-headers")).toBe("authorization, x-custom");
	expect(answer.headers.get("access-control-allow-methods")).toBe("POST, OPTIONS");
	expect(answer.headers.get("access-control-max-age")).toBe("600");
	expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
});

test("what is kept is compressed once for each form", async () => {
	const packed = new Map<string, Uint8Array>();
	const kept = { status: 200, type: "application/json", body: new TextEncoder().encode("a".repeat(5_000)), packed };
	for (const encoding of ["br", "gzip"]) {
		const bytes = async () => new Uint8Array(await respond(kept, {}, request({ "accept-encoding": encoding }), settings).bytes());
		const first = await bytes();
		const form = packed.get(encoding);
		expect(form).toEqual(first);
		expect(await bytes()).toEqual(first);
		expect(packed.get(encoding)).toBe(form as Uint8Array);
	}
});
