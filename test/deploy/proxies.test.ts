/** The proxies' configurations of deploy/, before a real gateway, by the programs themselves where they are here. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type RunningGateway, startGateway, upstreamEntry } from "../support/running-gateway.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";
import {
	CADDY,
	PROXY_HOST as HOST,
	NGINX,
	type ShippedProxy,
	startShippedCaddy,
	startShippedNginx,
} from "../support/shipped-proxies.ts";
import { TEST_CERTIFICATE } from "../support/tls-certificate.ts";

const CURL = Bun.which("curl");

let upstream: ScriptedUpstream;
let gate: RunningGateway;
let chargedFor: string;

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
	const restrictions = { models: null, endpoints: null, networks: null, addresses: ["203.0.113.9"] };
	const made = await gate.call("POST", "/api_keys", { apiKeyType: "INFERENCE", description: "one address", restrictions });
	chargedFor = ((await made.json()) as { data: { apiKey: string } }).data.apiKey;
});
afterAll(async () => {
	await gate?.stop();
	await upstream?.stop();
});

const PROXIES = [
	{ name: "nginx", program: NGINX, start: startShippedNginx },
	{ name: "Caddy", program: CADDY, start: startShippedCaddy },
];

describe.each(PROXIES)("$name", ({ program, start }) => {
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
		const tls = { ca: TEST_CERTIFICATE, serverName: HOST };
		return fetch(`https://127.0.0.1:${proxy?.port}${path}`, { ...init, headers, tls });
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

	test.skipIf(program === null || CURL === null)("takes the same header over HTTP/2", async () => {
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

	test.skipIf(program === null)("tells the node who calls, and nobody can say to be another", async () => {
		const forged = { key: chargedFor, headers: { "X-Forwarded-For": "203.0.113.9" } };
		const direct = await fetch(`${gate.url}/api/v1/models`, {
			headers: { authorization: `Bearer ${chargedFor}`, ...forged.headers },
		});
		expect(direct.status).toBe(200);
		expect((await through("/api/v1/models", forged)).status).toBe(403);
	});

	test.skipIf(program === null)("keeps /metrics inside", async () => {
		expect((await through("/metrics")).status).toBe(404);
		expect((await through("/readyz")).status).toBe(200);
	});
});
