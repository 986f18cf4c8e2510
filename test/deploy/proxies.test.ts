/** The proxies' configurations of deploy/, before a real gateway, by the programs themselves where they are here. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../support/free-port.ts";
import { type RunningGateway, startGateway, upstreamEntry } from "../support/running-gateway.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { TEST_CERTIFICATE, TEST_CERTIFICATE_KEY } from "../support/tls-certificate.ts";

const ROOT = join(import.meta.dir, "../..");
const HOST = "site.example";
/** Debian has nginx where the PATH of a plain user does not look. */
const NGINX = Bun.which("nginx", { PATH: `${process.env.PATH}:/usr/sbin` });
const CURL = Bun.which("curl");
const CADDY = Bun.which("caddy");

const folder = mkdtempSync(join(tmpdir(), "turnpike-proxies-"));
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
	mkdirSync(join(folder, "ssl"));
	writeFileSync(join(folder, "ssl/fullchain.pem"), TEST_CERTIFICATE);
	writeFileSync(join(folder, "ssl/privkey.pem"), TEST_CERTIFICATE_KEY);
});
afterAll(async () => {
	await gate?.stop();
	await upstream?.stop();
	rmSync(folder, { recursive: true, force: true });
});

interface Proxy {
	readonly port: number;
	stop(): Promise<void>;
}

/** A proxy in a process of its own, once its port takes connections. */
async function started(command: readonly string[], port: number): Promise<Proxy> {
	const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
	const child = Bun.spawn([...command], { env, stdin: "ignore", stdout: "ignore", stderr: "pipe" });
	const said = new Response(child.stderr).text();
	for (;;) {
		const open = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data() {} } }).catch(() => null);
		open?.end();
		if (open !== null) break;
		if (child.exitCode !== null) throw new Error(`${command[0]} ended: ${await said}`);
		await Bun.sleep(20);
	}
	return {
		port,
		async stop() {
			child.kill("SIGTERM");
			await child.exited;
		},
	};
}

async function startNginx(program: string): Promise<Proxy> {
	const port = await freePort();
	const site = readFileSync(join(ROOT, "deploy/proxy/nginx.conf"), "utf8")
		.replace("127.0.0.1:8787", new URL(gate.url).host)
		.replace("listen 443", `listen 127.0.0.1:${port}`)
		.replaceAll("api.example.com", HOST)
		.replaceAll("/etc/ssl/turnpike", join(folder, "ssl"));
	const places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder}/${name};`);
	const file = join(folder, "nginx.conf");
	writeFileSync(
		file,
		`${process.getuid?.() === 0 ? "user root; " : ""}daemon off; pid ${folder}/nginx.pid; error_log stderr warn; worker_processes 1; events {} http { access_log off; ${places.join(" ")}\n${site}\n}`,
	);
	return started([program, "-p", folder, "-e", "stderr", "-c", file], port);
}

async function startCaddy(program: string): Promise<Proxy> {
	const port = await freePort();
	const site = readFileSync(join(ROOT, "deploy/proxy/Caddyfile"), "utf8")
		.replace("127.0.0.1:8787", new URL(gate.url).host)
		.replace(
			"api.example.com {",
			`https://${HOST}:${port} {\n\tbind 127.0.0.1\n\ttls ${folder}/ssl/fullchain.pem ${folder}/ssl/privkey.pem`,
		);
	const file = join(folder, "Caddyfile");
	writeFileSync(file, `{\n\tadmin off\n\tauto_https off\n}\n${site}`);
	return started([program, "run", "--adapter", "caddyfile", "--config", file], port);
}

const PROXIES = [
	{ name: "nginx", program: NGINX, start: startNginx },
	{ name: "Caddy", program: CADDY, start: startCaddy },
];

describe.each(PROXIES)("$name", ({ program, start }) => {
	let proxy: Proxy | null = null;
	beforeAll(async () => {
		if (program !== null) proxy = await start(program);
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
		const way = ["--http2", "--noproxy", "*", "--cacert", join(folder, "ssl/fullchain.pem"), "--resolve", `${place}:127.0.0.1`];
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
