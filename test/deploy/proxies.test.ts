/** The proxies' configurations of deploy/, before a real gateway, by the programs themselves where they are here. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { RawConnection } from "../http/raw-connection.ts";
import { type RunningGateway, startGateway, upstreamEntry } from "../support/running-gateway.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";
import {
	CADDY,
	PROXY_HOST as HOST,
	NGINX,
	type ShippedProxy,
	startComposedNginx,
	startShippedCaddy,
	startShippedNginx,
} from "../support/shipped-proxies.ts";
import { TEST_CERTIFICATE } from "../support/tls-certificate.ts";

const CURL = Bun.which("curl");

let upstream: ScriptedUpstream;
let gate: RunningGateway;
let strangersKey: string;
let callersKey: string;

const STRANGER = "203.0.113.9";

/** Header lines by which a caller claims to be the stranger, or nobody. */
const FORGED: readonly (readonly string[])[] = [
	...["X-Forwarded-For", "x-FORWARDED-for", "X-Real-IP", "x-real-ip", "True-Client-IP", "CF-Connecting-IP", "Client-IP"].map(
		(name) => [`${name}: ${STRANGER}`],
	),
	[`Forwarded: for=${STRANGER}`],
	[`FORWARDED: FOR="${STRANGER}:4711";proto=https`],
	[`Forwarded: for=${STRANGER}`, `Forwarded: for=${STRANGER}`],
	[`X-Forwarded-For: ${STRANGER}`, `X-Forwarded-For: ${STRANGER}`],
	[`X-Forwarded-For: ${STRANGER}`, `x-forwarded-for: ${STRANGER}`, `Forwarded: for=${STRANGER}`, `X-Real-IP: ${STRANGER}`],
	[`X-Forwarded-For: ${STRANGER}, 127.0.0.1`],
	[`X-Forwarded-For: ${STRANGER}:443`],
	[`X-Forwarded-For: [::ffff:${STRANGER}]:443`],
	["X-Forwarded-For: 2001:db8::1"],
	['Forwarded: for="[2001:db8::1]:443"'],
	[`Forwarded: for="${STRANGER}, for=127.0.0.1`],
	["X-Forwarded-For:"],
	['X-Forwarded-For: garbage, , ;;"', 'Forwarded: garbage;;=,"', "X-Real-IP: -"],
	[`X_Forwarded_For: ${STRANGER}`],
];

/** An INFERENCE key that one address may use. */
async function keyOf(address: string): Promise<string> {
	const restrictions = { models: null, endpoints: null, networks: null, addresses: [address] };
	const made = await gate.call("POST", "/api_keys", { apiKeyType: "INFERENCE", description: address, restrictions });
	return ((await made.json()) as { data: { apiKey: string } }).data.apiKey;
}

beforeAll(async () => {
	if (NGINX === null && CADDY === null) return;
	upstream = startScriptedUpstream();
	upstream.models(["small"]);
	gate = await startGateway({
		config: {
			server: { trustedProxies: ["127.0.0.1"] },
			upstreams: { scripted: upstreamEntry(upstream.url) },
			x402: { payTo: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", rpcUrl: "http://127.0.0.1:9" },
			limits: { failedRequests: 0 },
		},
	});
	[strangersKey, callersKey] = [await keyOf(STRANGER), await keyOf("127.0.0.1")];
});
afterAll(async () => {
	await gate?.stop();
	await upstream?.stop();
});

const PROXIES = [
	{ name: "nginx", program: NGINX, start: startShippedNginx, tls: true },
	{ name: "Caddy", program: CADDY, start: startShippedCaddy, tls: true },
	{ name: "the composition's nginx", program: NGINX, start: startComposedNginx, tls: false },
];

describe.each(PROXIES)("$name", ({ program, start, tls }) => {
	let proxy: ShippedProxy | null = null;
	beforeAll(async () => {
		if (program !== null) proxy = await start(program, gate.url);
	});
	afterAll(async () => {
		await proxy?.stop();
	});

	function through(path: string, init: RequestInit & { key?: string } = {}): Promise<Response> {
		const headers = new Headers(init.headers);
		headers.set("host", `${HOST}:${proxy?.port}`);
		if (init.key !== "") headers.set("authorization", `Bearer ${init.key ?? gate.key}`);
		const secured = { tls: { ca: TEST_CERTIFICATE, serverName: HOST } };
		return fetch(`${tls ? "https" : "http"}://127.0.0.1:${proxy?.port}${path}`, { ...init, headers, ...(tls ? secured : {}) });
	}

	test.skipIf(program === null)("passes events on one by one", async () => {
		const { promise: gateOpen, resolve: open } = Promise.withResolvers<void>();
		upstream.next({ beforeSecondChunk: gateOpen });
		const response = await through("/api/v1/chat/completions", {
			method: "POST",
			headers: { "content-type": "application/json" },
			body: JSON.stringify({ model: "small", stream: true, messages: [{ role: "user", content: "hello" }] }),
		});
		expect([response.status, response.headers.get("content-type")]).toEqual([200, expect.stringContaining("text/event-stream")]);
		const decoder = new TextDecoder();
		let text = "";
		for await (const bytes of response.body ?? []) {
			// The upstream says nothing more before this first piece was seen.
			if (text === "") open();
			text += decoder.decode(bytes, { stream: true });
		}
		expect(text.trimEnd()).toEndWith("[DONE]");
	});

	test.skipIf(program === null)("passes a file of 25 MB on, and no larger one", async () => {
		const upload = (bytes: number) => {
			const form = new FormData();
			form.set("file", new File([new Uint8Array(bytes)], "zeros.bin"));
			return through("/api/v1/augment/text-parser", { method: "POST", body: form });
		};
		const taken = await upload(25_000_000);
		// Zeros are no document: read to their end and refused for what they are.
		expect([taken.status, ((await taken.json()) as { error: string }).error]).toEqual([400, expect.any(String)]);
		// Too large: whether the proxy hears the answer depends on how much it still has to send.
		expect((await upload(27_000_000)).status).toBeOneOf([413, 502]);
	});

	test.skipIf(program === null)("passes a payment header of 12 KB on, and the offer back", async () => {
		const pay = (headers: Record<string, string>) =>
			through("/api/v1/chat/completions", {
				method: "POST",
				key: "",
				headers: { "content-type": "application/json", ...headers },
				body: JSON.stringify({ model: "small", messages: [{ role: "user", content: "hello" }] }),
			});
		const paid = await pay({ "PAYMENT-SIGNATURE": Buffer.from("x".repeat(9_216)).toString("base64") });
		expect([paid.status, await paid.text()]).toEqual([400, expect.stringContaining("malformed_header")]);
		const offer = await pay({});
		expect(offer.status).toBe(402);
		expect(JSON.parse(Buffer.from(offer.headers.get("PAYMENT-REQUIRED") ?? "", "base64").toString())).toMatchObject({
			x402Version: 2,
		});
	});

	test.skipIf(program === null || CURL === null || !tls)("takes the same header over HTTP/2", async () => {
		const place = `${HOST}:${proxy?.port}`;
		const payment = Buffer.from("x".repeat(9_216)).toString("base64");
		const body = JSON.stringify({ model: "small", messages: [{ role: "user", content: "hello" }] });
		const sent = ["-H", "Content-Type: application/json", "-H", `PAYMENT-SIGNATURE: ${payment}`, "-d", body];
		const way = [
			"--http2",
			"--noproxy",
			"*",
			"--cacert",
			join(proxy?.folder ?? "", "ssl/fullchain.pem"),
			"--resolve",
			`${place}:127.0.0.1`,
		];
		const url = `https://${place}/api/v1/chat/completions`;
		const child = Bun.spawn([CURL ?? "", "-sS", ...way, ...sent, "-w", "\n%{http_version} %{http_code}", url], {
			stderr: "inherit",
		});
		const said = await new Response(child.stdout).text();
		expect(said).toContain("malformed_header");
		expect(said).toEndWith("2 400");
	});

	/** Status of a request with a key of one address and header lines as they stand. */
	async function byHeaders(at: ShippedProxy | null, key: string, lines: readonly string[]): Promise<number | undefined> {
		const connection = tls
			? await RawConnection.openTls(at?.port ?? 0, HOST, TEST_CERTIFICATE)
			: await RawConnection.open(at?.port ?? 0);
		const head = ["GET /api/v1/models HTTP/1.1", `Host: ${HOST}`, `Authorization: Bearer ${key}`, ...lines, "Connection: close"];
		try {
			await connection.send(`${head.join("\r\n")}\r\n\r\n`);
			return (await connection.answer())?.status;
		} finally {
			connection.destroy();
		}
	}

	test.skipIf(program === null)("tells the node who calls, whatever a caller says of itself", async () => {
		// The node believes the proxy: what this one may say, nobody else may.
		const direct = await fetch(`${gate.url}/api/v1/models`, {
			headers: { authorization: `Bearer ${strangersKey}`, "X-Forwarded-For": STRANGER },
		});
		expect(direct.status).toBe(200);
		for (const lines of FORGED) {
			expect(`${lines.join(" | ")}: ${await byHeaders(proxy, strangersKey, lines)}`).toBe(`${lines.join(" | ")}: 403`);
			expect(`${lines.join(" | ")}: ${await byHeaders(proxy, callersKey, lines)}`).toBe(`${lines.join(" | ")}: 200`);
		}
	});

	test.skipIf(program === null)("sends one header about the caller, its own", async () => {
		let received = new Headers();
		const node = Bun.serve({
			hostname: "127.0.0.1",
			port: 0,
			fetch(request) {
				received = request.headers;
				return new Response("ok");
			},
		});
		const passing = await start(program ?? "", `http://127.0.0.1:${node.port}`);
		try {
			for (const lines of FORGED) {
				expect(await byHeaders(passing, strangersKey, lines)).toBe(200);
				const told = ["x-forwarded-for", "forwarded", "x-real-ip"].map((name) => received.get(name));
				expect(told).toEqual(["127.0.0.1", null, null]);
			}
		} finally {
			await passing.stop();
			await node.stop(true);
		}
	});

	test.skipIf(program === null)("keeps /metrics inside", async () => {
		expect((await through("/metrics")).status).toBe(404);
		expect((await through("/readyz")).status).toBe(200);
	});
});
