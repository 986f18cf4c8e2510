import { describe, expect, test } from "bun:test";
import { generateKeyPairSync, verify } from "node:crypto";
import { anthropic, bedrock, TALK } from "../../../test/support/providers/index.ts";
import { playedProvider, playOf, upstreamOf } from "../../../test/support/providers/upstream.ts";
import { ownAddress, PROVIDER_NAMES, providerDefinition, type UpstreamConfig } from "../../config/index.ts";
import type { Fetch } from "../fetch.ts";
import { CHAT_CAPABILITIES } from "./chat/chat-capabilities.ts";
import { loadProvider } from "./load-provider.ts";
import { providerFetch } from "./provider-fetch.ts";
import { isProviderUpstream } from "./provider-upstream.ts";
import { ServiceAccountToken } from "./service-account-token.ts";

const noFetch: Fetch = () => Promise.reject(new Error("nothing is asked"));

function entryOf(provider: UpstreamConfig["provider"], more: Partial<UpstreamConfig> = {}) {
	const config: UpstreamConfig = {
		...(provider === undefined ? {} : { provider }),
		url: "http://provider.test/base",
		dialect: "generic",
		discover: false,
		health: { failures: 3, probeEveryMs: 5_000 },
		key: "a-key",
		...more,
	};
	if (!isProviderUpstream(config)) throw new Error("no provider");
	return config;
}

/** Options that every provider's package is content with. */
const ALL = {
	...{ region: "eu-central-1", resource: "scripted", project: "p", location: "europe-west4" },
	...{ clientEmail: "me@p.test", privateKey: "none" },
};

describe("loading a provider", () => {
	test.each(PROVIDER_NAMES)("%s makes models of just the kinds that its facts name", async (provider) => {
		const known = Object.keys(providerDefinition(provider).options);
		const options = Object.fromEntries(Object.entries(ALL).filter(([name]) => known.includes(name)));
		const { key, ...entry } = entryOf(provider, { options });
		// Of Vertex AI a key opens a part only.
		const makers = await loadProvider(provider === "google-vertex" || key === undefined ? entry : { ...entry, key }, {
			fetch: noFetch,
		});
		expect(Object.keys(makers).sort()).toEqual([...providerDefinition(provider).offers].sort());
		for (const make of Object.values(makers)) expect(make("some-model").specificationVersion).toBe("v4");
		expect(CHAT_CAPABILITIES[provider] !== undefined).toBe(makers.chat !== undefined);
	});

	test("takes nothing of the environment: no key, no address", async () => {
		const before = { ...process.env };
		const lure = {
			AWS_BEARER_TOKEN_BEDROCK: "lure",
			AWS_ENDPOINT_URL: "http://lure.test",
			ANTHROPIC_BASE_URL: "http://lure.test",
		};
		Object.assign(process.env, lure, { ANTHROPIC_API_KEY: "lure" });
		try {
			for (const script of [anthropic, bedrock]) {
				const played = playedProvider();
				played.next(playOf(script, false, TALK));
				const config = upstreamOf(script);
				if (!isProviderUpstream(config)) throw new Error("no provider");
				const { chat } = await loadProvider(config, { fetch: played.fetch });
				await chat?.(script.model).doGenerate({ prompt: [{ role: "user", content: [{ type: "text", text: "x" }] }] });
				const [request] = played.requests;
				expect(request?.path).toBe(script.path(false));
				expect(JSON.stringify([...(request?.headers ?? [])])).not.toContain("lure");
			}
		} finally {
			for (const name of [...Object.keys(lure), "ANTHROPIC_API_KEY"])
				if (before[name] === undefined) delete process.env[name];
				else process.env[name] = before[name];
		}
	});

	test("sends what has one fixed address to the operator's", async () => {
		const asked: string[] = [];
		const fetch: Fetch = async (url) => {
			asked.push(url);
			return new Response("no", { status: 400 });
		};
		const { speech } = await loadProvider(entryOf("elevenlabs", { url: "http://127.0.0.1:9/labs" }), { fetch });
		await speech?.("eleven_v3")
			.doGenerate({ text: "hi", voice: "v", providerOptions: {} })
			.then(undefined, () => {});
		expect(asked[0]).toStartWith("http://127.0.0.1:9/labs/v1/text-to-speech/");
	});
});

test("our fetch follows no redirect, knows no limit of the runtime, and keeps proxies from loopback", async () => {
	const seen: { url: string; init: Parameters<Fetch>[1] }[] = [];
	const fetch = providerFetch(async (url, init) => {
		seen.push({ url, init });
		return new Response();
	});
	await fetch("http://127.0.0.1:9/x", { headers: { "user-agent": "ai-sdk/x", "x-api-key": "k" }, method: "POST", body: "{}" });
	await fetch(new URL("https://api.example/x"));
	expect(seen[0]?.init).toMatchObject({ redirect: "manual", timeout: false, proxy: false, method: "POST", body: "{}" });
	expect(Object.fromEntries(new Headers(seen[0]?.init.headers as Headers))).toEqual({
		"accept-encoding": "identity",
		"user-agent": "turnpike",
		"x-api-key": "k",
	});
	expect(seen[1]?.init).not.toHaveProperty("proxy");
});

describe("tokens of a service account", () => {
	const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
	const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
	const answer = (body: object, status = 200) => Response.json(body, { status });

	function tokens(answers: (() => Response)[], wallMs: () => number) {
		const asked: URLSearchParams[] = [];
		const fetch = providerFetch(async (url, { body }) => {
			expect(url).toBe("https://oauth2.googleapis.com/token");
			asked.push(new URLSearchParams(String(body)));
			return (answers.shift() ?? (() => answer({}, 500)))();
		});
		// As it stands in a variable of the environment.
		const account = { clientEmail: "me@p.test", privateKey: pem.replaceAll("\n", "\\n"), privateKeyId: "key-1", fetch, wallMs };
		return { token: new ServiceAccountToken(account), asked };
	}

	test("are asked for with a signed assertion, once for all who wait, and again before their end", async () => {
		let now = Date.UTC(2026, 0, 1);
		const first = () => answer({ access_token: "one", expires_in: 3_600 });
		const { token, asked } = tokens([first, () => answer({ access_token: "two", expires_in: 3_600 })], () => now);
		expect(await Promise.all([token.get(), token.get()])).toEqual(["one", "one"]);
		now += 3_000_000;
		expect(await token.get()).toBe("one");
		now += 400_000;
		expect(await token.get()).toBe("two");
		expect(asked.length).toBe(2);
		expect(asked[0]?.get("grant_type")).toBe("urn:ietf:params:oauth:grant-type:jwt-bearer");
		const [head = "", claims = "", signature = ""] = asked[0]?.get("assertion")?.split(".") ?? [];
		expect(JSON.parse(Buffer.from(head, "base64url").toString())).toEqual({ alg: "RS256", typ: "JWT", kid: "key-1" });
		expect(JSON.parse(Buffer.from(claims, "base64url").toString())).toEqual({
			iss: "me@p.test",
			scope: "https://www.googleapis.com/auth/cloud-platform",
			aud: "https://oauth2.googleapis.com/token",
			iat: 1_767_225_600,
			exp: 1_767_229_200,
		});
		expect(verify("RSA-SHA256", Buffer.from(`${head}.${claims}`), publicKey, Buffer.from(signature, "base64url"))).toBe(true);
	});

	test("that are refused are a fault of our account, and are asked for again next time", async () => {
		const refused = () => answer({ error: "invalid_grant", error_description: "Invalid JWT Signature." }, 400);
		const { token } = tokens([refused, () => answer({ access_token: "late" })], () => 0);
		expect(await token.get().catch((error: unknown) => error)).toMatchObject({ name: "UpstreamFailure", kind: "account" });
		expect(await token.get()).toBe("late");
	});

	test("go with requests to Vertex AI", async () => {
		const asked: { url: string; authorization: string | null }[] = [];
		const fetch: Fetch = async (url, { headers }) => {
			asked.push({ url, authorization: new Headers(headers as Headers).get("authorization") });
			return url.startsWith("https://oauth2")
				? answer({ access_token: "vertex-token" })
				: answer({ error: { code: 404, message: "x", status: "NOT_FOUND" } }, 404);
		};
		const options = { project: "p", location: "europe-west4", clientEmail: "me@p.test", privateKey: pem };
		const { key: _, ...entry } = entryOf("google-vertex", { options, url: ownAddress("google-vertex") });
		for (let call = 0; call < 2; call++) {
			const { chat } = await loadProvider(entry, { fetch });
			await chat?.("gemini-2.5-flash")
				.doGenerate({ prompt: [{ role: "user", content: [{ type: "text", text: "x" }] }] })
				.then(undefined, () => {});
		}
		const place = "https://europe-west4-aiplatform.googleapis.com/v1beta1/projects/p/locations/europe-west4/publishers/google";
		expect(asked.filter(({ url }) => url.startsWith(place)).map(({ authorization }) => authorization)).toEqual([
			"Bearer vertex-token",
			"Bearer vertex-token",
		]);
		expect(asked.filter(({ url }) => url.startsWith("https://oauth2")).length).toBe(1);
	});
});
