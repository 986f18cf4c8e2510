import { expect, test } from "bun:test";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigError, loadConfig } from "./index.ts";

function folder(text?: string): string {
	const dir = mkdtempSync(join(tmpdir(), "turnpike-config-"));
	if (text !== undefined) writeFileSync(join(dir, "turnpike.yaml"), text);
	return dir;
}

function fault(text: string, env = {}): string {
	try {
		loadConfig({}, env, folder(text));
	} catch (error) {
		if (error instanceof ConfigError) return error.message;
		throw error;
	}
	return "";
}

test("settings of the server that cannot be meant are refused, and say what is", () => {
	for (const origin of ["nonsense", "https://a.example/path", "a.example", "https://"])
		expect(fault(`server: {corsOrigins: ["https://ok.example", "${origin}"]}`)).toContain("server.corsOrigins[1]: expected *");
	for (const origin of ["*", "null", "https://a.example", "http://localhost:3000", "chrome-extension://abc"])
		expect(fault(`server: {corsOrigins: ["${origin}"]}`)).toBe("");
	expect(fault("server: {idleTimeoutSeconds: 20}")).toContain("server.idleTimeoutSeconds: expected 0, or 5 s more");
	expect(fault("server: {idleTimeoutSeconds: 256}")).toContain("server.idleTimeoutSeconds: must be <= 255");
	expect(fault("server: {idleTimeoutSeconds: 0}")).toBe("");
	expect(fault("traces: {passTo: [nobody]}")).toContain("traces.passTo[0]: expected one of the upstreams");
});

test("defaults stand without a file", () => {
	const dir = folder();
	const { config, file, adminKey } = loadConfig({}, {}, dir);
	expect(file).toBeNull();
	expect(adminKey).toBeNull();
	expect(config.server.host).toBe("127.0.0.1");
	expect(config.server.port).toBe(8787);
	expect(config.data).toBe(join(dir, "turnpike-data"));
	expect(config.accounts.startingCreditUsd).toBe("10");
	expect(config.limits.tiers.XS?.requestsPerMinute).toBe(500);
	expect(config.models.public).toBe(false);
});

test("flags win over the environment, which wins over the file", () => {
	const dir = folder("server:\n  port: 1\n  host: 0.0.0.0\n");
	expect(loadConfig({}, {}, dir).config.server.port).toBe(1);
	expect(loadConfig({}, { TURNPIKE_PORT: "2" }, dir).config.server.port).toBe(2);
	expect(loadConfig({ port: "3" }, { TURNPIKE_PORT: "2" }, dir).config.server).toMatchObject({ port: 3, host: "0.0.0.0" });
});

test("an unknown key, a wrong type and a broken file say where and what", () => {
	expect(fault("server:\n  prot: 3\n")).toContain("turnpike.yaml:2:3: server.prot: Unrecognized key");
	expect(fault("sever: {}\n")).toContain("sever: Unrecognized key");
	expect(fault("server:\n  port: many\n")).toContain("server.port: must be integer");
	expect(fault("server: [1\n")).toMatch(/turnpike\.yaml:\d+:\d+: /);
	expect(fault("- a\n")).toContain("expected a mapping");
	expect(fault("log: {level: info}\nlog: {level: warn}\n")).toContain("Map keys must be unique");
	expect(fault("upstreams:\n  a: {url: 'ftp://x'}\n")).toContain(
		"upstreams.a.url: expected an address that begins with http:// or https://",
	);
	expect(fault("models:\n  entries:\n    m: {upstreams: [{upstream: nowhere}]}\n")).toContain(
		"upstream: expected one of embedded, not nowhere",
	);
	expect(fault("models:\n  entries:\n    m: {upstreams: [{upstream: embedded, protocol: comfyui}]}\n")).toContain(
		"upstreams[0].workflow: expected a file",
	);
	expect(fault("models:\n  entries:\n    m: {upstreams: [{upstream: embedded, parameters: {a: [1]}}]}\n")).toContain(
		"parameters.a",
	);
});

test("secrets come from the environment, and a missing one is named", () => {
	const text = "upstreams:\n  a: {url: 'http://x/v1', key: '${A_KEY}', headers: {X-Literal: '$${A_KEY}'}}\n";
	expect(fault(text)).toContain("upstreams.a.key: environment variable A_KEY is not set");
	const upstream = loadConfig({}, { A_KEY: "s3cret" }, folder(text)).config.upstreams.a;
	expect(upstream?.key).toBe("s3cret");
	expect(upstream?.headers?.["X-Literal"]).toBe("${A_KEY}");
});

test("one variable makes an upstream with its dialect", () => {
	const env = { TURNPIKE_OPENAI_UPSTREAM: "http://localhost:11434/v1/", TURNPIKE_OPENAI_KEY: "k" };
	expect(loadConfig({}, env, folder()).config.upstreams.openai).toMatchObject({
		url: "http://localhost:11434/v1",
		dialect: "ollama",
		key: "k",
	});
	expect(
		loadConfig({}, { TURNPIKE_OPENAI_UPSTREAM: "https://api.openai.com/v1" }, folder()).config.upstreams.openai?.dialect,
	).toBe("openai");
});

test("an admin key that is too short or has odd characters is refused", () => {
	expect(() => loadConfig({}, { TURNPIKE_ADMIN_KEY: "short" }, folder())).toThrow("TURNPIKE_ADMIN_KEY: expected 20 to 200");
	expect(() => loadConfig({}, { TURNPIKE_ADMIN_KEY: `${"a".repeat(30)} ` }, folder())).toThrow(ConfigError);
	expect(loadConfig({}, { TURNPIKE_ADMIN_KEY: "a".repeat(20) }, folder()).adminKey).toBe("a".repeat(20));
});

test("a named file that is not there is an error, the default one is not", () => {
	expect(() => loadConfig({ config: "other.yaml" }, {}, folder())).toThrow("cannot be read (ENOENT)");
});

test("a name that an operator may not give says where it stands and what is expected", () => {
	const upstream = "{url: 'http://127.0.0.1:9/v1', health: {failures: -1}}";
	for (const name of ["OpenAI", "gpu.a", '"gpu a"', '"a:b"', '""', `"${"a".repeat(65)}"`, '"a\\nb"', '"a\\n"'])
		expect(fault(`upstreams:\n  ${name}: ${upstream}\n`)).toMatch(
			/turnpike\.yaml:2:3: upstreams\..*: expected a name of up to 64 lower-case/,
		);
	expect(fault(`upstreams:\n  gpu-a: ${upstream}\n`)).toContain("upstreams.gpu-a.health.failures: must be >= 1");
	expect(fault(`upstreams:\n  "a\\nb": ${upstream}\n`)).toContain("upstreams.a\\u000ab: expected");
});

test("a model id or a name with a control character is refused, and so is what stands under it", () => {
	for (const id of ['"a\\nb"', '"a\\n"', '"a\\u0085b"', '"\\u2028"', '"\\0"', '""'])
		expect(fault(`models:\n  entries:\n    ${id}: {price: nonsense}\n`)).toContain(
			"expected a model id without control characters",
		);
	expect(fault('models:\n  traits: {text: {"a\\nb": m}}\n')).toContain("expected a name without control characters");
	expect(fault('models:\n  traits: {text: {default: "a\\nb"}}\n')).toContain(
		"models.traits.text.default: expected text without control characters",
	);
	expect(fault('models:\n  mappings: {"a\\nb": {}}\n')).toContain("expected a name without control characters");
	expect(fault('limits:\n  tiers: {"\\t": {requestsPerMinute: 1, tokensPerMinute: 1}}\n')).toContain("expected a name without");
	expect(fault('models:\n  entries:\n    m: {name: "a\\nb"}\n')).toContain("models.entries.m.name: expected text");
	expect(fault('models:\n  entries:\n    m: {traits: ["a\\nb"]}\n')).toContain("models.entries.m.traits[0]: expected text");
	expect(fault("models:\n  entries:\n    m: {tier: constructor}\n")).toContain("models.entries.m.tier: expected one of XS");
});

test("__proto__ is refused wherever it stands", () => {
	const models = "{price: {input: 1, output: 1}}";
	for (const [text, at] of [
		["__proto__: {}\n", "__proto__"],
		["upstreams:\n  __proto__: {url: 'http://127.0.0.1:9/v1'}\n", "upstreams.__proto__"],
		[`models:\n  entries:\n    __proto__: ${models}\n`, "models.entries.__proto__"],
		["models:\n  entries:\n    m: {__proto__: {hidden: true}}\n", "models.entries.m.__proto__"],
		["server: {trustedProxies: [{__proto__: {}}]}\n", "server.trustedProxies[0].__proto__"],
	] as const)
		expect(fault(text)).toMatch(new RegExp(`turnpike\\.yaml:\\d+:\\d+: ${RegExp.escape(at)}: is not a name that can be used`));
});

test("faults of aliases, nesting and encoding are configuration errors", () => {
	expect(fault("server:\n  host: *nope\n")).toContain("turnpike.yaml:2:9: there is no anchor &nope before this alias");
	const bomb = ["a: &a [x, x, x, x, x, x, x, x, x, x]"];
	for (const [name, of] of ["ba", "cb", "dc", "ed", "fe"].map((pair) => [pair[0], pair[1]]))
		bomb.push(`${name}: &${name} [${Array(10).fill(`*${of}`).join(", ")}]`);
	expect(fault(`${bomb.join("\n")}\n`)).toMatch(/turnpike\.yaml: Excessive alias count/);
	expect(fault("server: &s {host: *s}\n")).toContain("turnpike.yaml:1:");
	expect(fault(`server: ${"[".repeat(50_000)}${"]".repeat(50_000)}\n`)).toContain("turnpike.yaml:");
	expect(fault(`server: ${"[".repeat(100)}${"]".repeat(100)}\n`)).toContain("is nested deeper than any setting");
	const dir = folder();
	writeFileSync(join(dir, "turnpike.yaml"), Buffer.from([0x73, 0x3a, 0x20, 0xff, 0xfe, 0x0a]));
	expect(() => loadConfig({}, {}, dir)).toThrow("turnpike.yaml: expected text in UTF-8");
});

test("a header that could never be sent is refused", () => {
	const upstream = (rest: string) => `upstreams:\n  a: {url: 'http://127.0.0.1:9/v1', ${rest}}\n`;
	for (const value of ['"a\\nb"', '"a\\r\\nX-B: c"', '"a\\u0000"', '" a"', '"\u4f60"'])
		expect(fault(upstream(`headers: {X-A: ${value}}`))).toContain("upstreams.a.headers.X-A: expected the value of a header");
	for (const name of ['"X A"', '"X:A"', '""', '"X\\nA"', '"\u00fc"'])
		expect(fault(upstream(`headers: {${name}: b}`))).toContain("expected the name of an HTTP header");
	expect(fault(upstream('key: "a\\nb"'))).toContain("upstreams.a.key: expected the value of a header");
	expect(fault(upstream("key: '${K}'"), { K: "a\nb" })).toContain("upstreams.a.key: expected the value of a header");
	expect(fault(upstream('headers: {X-A: "", X_b: "a b;\u00fc\tc"}'))).toBe("");
});

test("a fault of a variable or a flag names it, not the file", () => {
	const faultIn = (env: Record<string, string>, flags = {}) => {
		try {
			loadConfig(flags, env, folder("server: {host: 0.0.0.0}\n"));
		} catch (error) {
			return (error as Error).message;
		}
		return "";
	};
	for (const url of ["localhost:11434/v1", "ftp://localhost/v1", "http://", "https://a b/v1"])
		expect(faultIn({ TURNPIKE_OPENAI_UPSTREAM: url })).toMatch(/^TURNPIKE_OPENAI_UPSTREAM: expected an address that begins with/);
	expect(faultIn({ TURNPIKE_OPENAI_UPSTREAM: "http://a/v1", TURNPIKE_OPENAI_KEY: "a\nb" })).toMatch(
		/^TURNPIKE_OPENAI_KEY: expected/,
	);
	for (const url of ["example.com", "https://", "https://a b"])
		expect(faultIn({ TURNPIKE_PUBLIC_URL: url })).toMatch(/^TURNPIKE_PUBLIC_URL: expected an address/);
	expect(faultIn({ TURNPIKE_STORE: "mysql://u:secret@h/d" })).toBe(
		"TURNPIKE_STORE: expected an address like postgres://user:password@host/database",
	);
	expect(faultIn({ TURNPIKE_STORE: "postgres://u:secret@one,two/d?target_session_attrs=standby" })).toBe(
		"TURNPIKE_STORE: expected an address like postgres://user:password@host1:5432,host2:5432/database, where target_session_attrs is read-write or primary",
	);
	for (const port of ["65536", "-1", "1e3", "80 ", "many"])
		expect(faultIn({ TURNPIKE_PORT: port })).toBe("TURNPIKE_PORT: expected a number from 0 to 65535");
	expect(faultIn({ TURNPIKE_PORT: "1" }, { port: "" })).toBe("--port: expected a number from 0 to 65535");
	expect(faultIn({}, { host: "" })).toMatch(/^--host: /);
	expect(faultIn({}, { data: "" })).toMatch(/^--data: /);
});

test("a variable that is set to nothing counts as not set", () => {
	const names = ["PORT", "HOST", "DATA", "CONFIG", "STORE", "ADMIN_KEY", "PUBLIC_URL", "OPENAI_UPSTREAM", "OPENAI_KEY"];
	const env = Object.fromEntries(names.map((name) => [`TURNPIKE_${name}`, ""]));
	const dir = folder();
	expect(loadConfig({}, env, dir)).toEqual(loadConfig({}, {}, dir));
	const url = "http://localhost:11434/v1";
	expect(loadConfig({}, { ...env, TURNPIKE_OPENAI_UPSTREAM: url }, dir).config.upstreams.openai?.key).toBeUndefined();
});

test("one variable makes an upstream of a chain, and takes the place of the file's", () => {
	const file = "rpc:\n  networks:\n    base-mainnet: {upstreams: [{url: 'http://a'}, {url: 'http://b'}]}\n";
	const env = { TURNPIKE_RPC_BASE_MAINNET: "http://localhost:8545", TURNPIKE_RPC_LINEA_MAINNET: "", TURNPIKE_PUBLIC_RPC: "1" };
	const { rpc } = loadConfig({}, env, folder(file)).config;
	expect(rpc.networks["base-mainnet"]?.upstreams).toEqual([
		{ url: "http://localhost:8545", order: 0, weight: 1, health: { failures: 3, probeEveryMs: 5_000 } },
	]);
	expect(Object.keys(rpc.networks)).toEqual(["base-mainnet"]);
	expect(rpc.public).toBe(true);
	expect(loadConfig({}, {}, folder(file)).config.rpc).toMatchObject({
		public: false,
		pricePerCreditUsd: 0.000000625,
		limits: { paid: { requestsPerMinute: 100, creditsPerDay: 10_000_000 } },
	});
});

test("wallet payment is set by variables alone, which take the place of the file's facilitator", () => {
	const address = "0x000000000000000000000000000000000000bEEF";
	const key = "ab".repeat(32);
	const env = { TURNPIKE_X402_PAY_TO: address, TURNPIKE_X402_RPC: "http://localhost:8545", TURNPIKE_X402_KEY: key };
	const { x402 } = loadConfig({}, env, folder("x402: {facilitator: {url: 'http://f'}, minimumTopUpUsd: 7}\n")).config;
	expect(x402).toMatchObject({ payTo: address, rpcUrl: "http://localhost:8545", facilitator: { key }, minimumTopUpUsd: 7 });
	expect([x402.facilitator.url, x402.suggestedTopUpUsd, Object.keys(x402.networks)]).toEqual([undefined, 10, ["base"]]);
	expect(loadConfig({}, { TURNPIKE_X402_PAY_TO: "" }, folder()).config.x402.payTo).toBeUndefined();
});

test("payment on Solana is set by variables alone, with or without a receiver on Base", () => {
	const address = "2nsTvzEaa2gxYbTzcUAAJ2r5jk6YEnsKwd9d84mAt5qU";
	const env = {
		TURNPIKE_X402_SOLANA_PAY_TO: address,
		TURNPIKE_X402_SOLANA_RPC: "http://localhost:8899",
		TURNPIKE_X402_SOLANA_FACILITATOR: "http://facilitator",
	};
	const file = "x402: {solana: {commitment: confirmed, facilitator: {headers: {x-token: t}}}}\n";
	const { x402 } = loadConfig({}, env, folder(file)).config;
	expect(x402.payTo).toBeUndefined();
	expect(x402.solana).toEqual({
		payTo: address,
		network: "solana",
		rpcUrl: "http://localhost:8899",
		commitment: "confirmed",
		facilitator: { url: "http://facilitator", headers: { "x-token": "t" } },
	});
	expect(() => loadConfig({}, { TURNPIKE_X402_SOLANA_PAY_TO: "0x12" }, folder())).toThrow(
		"TURNPIKE_X402_SOLANA_PAY_TO: expected an address of Solana: 32 to 44 characters of base58",
	);
});

test("a wrong setting of wallet payment says where it came from, and never a key", () => {
	const faultOf = (env: Record<string, string>) => {
		try {
			return loadConfig({}, env, folder()) && "none";
		} catch (error) {
			return (error as Error).message;
		}
	};
	expect(faultOf({ TURNPIKE_X402_PAY_TO: "0x12" })).toBe("TURNPIKE_X402_PAY_TO: expected an address: 0x and 40 hex digits");
	expect(faultOf({ TURNPIKE_X402_KEY: "secret-key" })).toBe("TURNPIKE_X402_KEY: expected a private key: 64 hex digits");
	expect(faultOf({ TURNPIKE_X402_RPC: "localhost" })).toStartWith("TURNPIKE_X402_RPC: expected an address that begins");
	expect(faultOf({ TURNPIKE_X402_FACILITATOR: "http://f", TURNPIKE_X402_KEY: "ab".repeat(32) })).toBe(
		"TURNPIKE_X402_KEY: expected a facilitator's url or a key, not both",
	);
	expect(fault("x402: {networks: {mainnet: {}}}\n")).toContain("expected one of base, base-sepolia");
	expect(fault("x402: {networks: {}}\n")).toContain("x402.networks: expected one network at least");
	expect(fault("x402: {minimumTopUpUsd: 20}\n")).toContain("in rising order");
});

test("a wrong setting of the chains says where it came from", () => {
	expect(() => loadConfig({}, { TURNPIKE_RPC_BASE_MAINNET: "localhost:8545" }, folder())).toThrow(
		"TURNPIKE_RPC_BASE_MAINNET: expected an address that begins with http://",
	);
	expect(() => loadConfig({}, { TURNPIKE_PUBLIC_RPC: "yes" }, folder())).toThrow("TURNPIKE_PUBLIC_RPC: expected 1 or 0");
	expect(fault("rpc: {pricePerCreditUsd: 0.0000006255}\n")).toContain("rpc.pricePerCreditUsd: expected whole billionths");
	expect(fault("rpc:\n  networks:\n    Base: {enabled: false}\n")).toContain("rpc.networks.Base: expected a network");
	expect(fault("rpc:\n  networks:\n    a: {upstreams: [{name: x, url: 'http://a'}, {name: x, url: 'http://b'}]}\n")).toContain(
		"rpc.networks.a.upstreams[1].name: expected a name that no other upstream of a has",
	);
});

test("staking needs chain and contract together, the contract as text, and a rate above nothing", () => {
	const contract = `"0x${"ab".repeat(20)}"`;
	const chain = "chain: {rpcUrl: 'https://x/${RPC_KEY}'}";
	expect(fault(`staking: {${chain}}\n`, { RPC_KEY: "k" })).toContain("staking: expected chain.rpcUrl and contract together");
	expect(fault(`staking: {contract: ${contract}}\n`)).toContain("staking: expected chain.rpcUrl and contract together");
	expect(fault(`staking: {contract: 0x${"12".repeat(20)}}\n`)).toContain(
		"staking.contract: expected an address: 0x and 40 hex digits, as text",
	);
	expect(fault('staking: {contract: "0x12"}\n')).toContain("staking.contract: expected an address: 0x and 40 hex digits");
	expect(fault('staking: {view: "stakedOf(uint256)"}\n')).toContain("staking.view: expected a view of one address");
	expect(fault('staking: {diemPerToken: "0.0"}\n')).toContain("staking.diemPerToken: expected more than 0");
	expect(fault('staking: {diemPerToken: "1e3"}\n')).toContain("staking.diemPerToken: expected a decimal number");
	const text = `staking: {${chain}, contract: ${contract}, view: stakedOf(address)}\n`;
	const { staking } = loadConfig({}, { RPC_KEY: "k" }, folder(text)).config;
	expect(staking).toMatchObject({ chain: { rpcUrl: "https://x/k", id: 8453, name: "Base" }, view: "stakedOf(address)" });
});

test("a price that would be charged as nothing is refused, whatever it is the price of", () => {
	const entry = (inner: string) => `models: {entries: {a: ${inner}}}\n`;
	for (const [text, path, least] of [
		[entry("{price: {input: 0.0000001, output: 1}}"), "models.entries.a.price.input", "0.000001"],
		[entry("{price: {input: 1, output: 1, cacheInput: 1e-9}}"), "models.entries.a.price.cacheInput", "0.000001"],
		[
			entry("{price: {input: 1, output: 1, extended: {contextTokenThreshold: 1, input: 1, output: 1e-7}}}"),
			"models.entries.a.price.extended.output",
			"0.000001",
		],
		[entry("{speech: {perMillionCharacters: 1e-7}}"), "models.entries.a.speech.perMillionCharacters", "0.000001"],
		[entry("{embedding: {perMillionTokens: 1e-7}}"), "models.entries.a.embedding.perMillionTokens", "0.000001"],
		[entry("{transcription: {perAudioSecond: 1e-10}}"), "models.entries.a.transcription.perAudioSecond", "0.000000001"],
		[entry("{image: {byQuality: {2K: {low: 1e-10}}}}"), "models.entries.a.image.byQuality.2K.low", "0.000000001"],
		["documents: {pricePerFileUsd: 1e-10}\n", "documents.pricePerFileUsd", "0.000000001"],
		["web: {pricePerSearchUsd: 1e-10}\n", "web.pricePerSearchUsd", "0.000000001"],
	] as const)
		expect(fault(text)).toMatch(
			new RegExp(`turnpike\\.yaml:1:\\d+: ${path}: expected 0, or at least ${least}: less is charged as nothing`),
		);
	for (const free of ["0", "0.000001"])
		expect(loadConfig({}, {}, folder(entry(`{price: {input: ${free}, output: ${free}}}`))).file).not.toBeNull();
});

test("a cost has the members of its model's type, none missing", () => {
	const given = (entry: string) => () => loadConfig({}, {}, folder(`models: { entries: { a: ${entry} } }`));
	for (const entry of [
		"{ type: text, cost: { input: 1, output: 2 } }",
		"{ type: embedding, cost: { input: 1 } }",
		"{ type: tts, cost: { each: 15 } }",
		"{ cost: { each: 15 } }",
	])
		expect(given(entry)().config.models.entries.a?.cost, entry).toBeDefined();
	for (const [entry, words] of [
		["{ type: text, cost: { input: 1 } }", "expected input and output for a model of type text, not input"],
		["{ cost: { output: 1 } }", "expected input and output, or input, or each, not output"],
		["{ type: image, cost: { input: 1, output: 1 } }", "expected each for a model of type image, not input and output"],
		["{ type: asr, cost: {} }", "expected each for a model of type asr, not nothing"],
	] as const)
		expect(given(entry), entry).toThrow(`models.entries.a.cost: ${words}`);
	expect(() => loadConfig({}, {}, folder("costs: { search-request: -1 }"))).toThrow(ConfigError);
	const skus = [
		...["search-request", "scrape-page", "text-parser-file", "crypto-rpc-base-mainnet-credit"],
		...["chat-web-search-request", "chat-web-page", "chat-x-search-result"],
		...["input", "cache-input", "cache-write", "output"].map((kind) => `Qwen/Qwen3:8b-llm-${kind}-mtoken`),
		...["image-unit", "input-image-unit", "tts-mcharacter", "asr-second"].map((unit) => `@cf/a.b_c-${unit}`),
	];
	const { costs } = loadConfig(
		{},
		{},
		folder(`costs: ${JSON.stringify(Object.fromEntries(skus.map((sku) => [sku, 1])))}`),
	).config;
	expect(Object.keys(costs).toSorted()).toEqual(skus.toSorted());
});

test("an amount that is negative, or no text, is told what an amount is", () => {
	for (const amount of ["-5", '"-5"', "1e9"])
		expect(fault(`accounts: {startingCreditUsd: ${amount}}\n`)).toContain(
			"accounts.startingCreditUsd: expected a decimal number with at most 9 places, like 12.50",
		);
});

test("a wrong value is told with file, line and column, wherever it stands", () => {
	const rows: readonly (readonly [yaml: string, place: string])[] = [
		["server:\n  port: 1\n  corsOrigins:\n    - '*'\n    - nonsense\n", "5:7: server.corsOrigins[1]: expected *"],
		["# prices\n\nmodels:\n  entries:\n    gpt-4.1:\n      type: nope\n", "6:7: models.entries.gpt-4.1.type: must be"],
		["models:\n  entries:\n    a.b: {type: text}\n    a:\n      name: ''\n", "5:7: models.entries.a.name: expected text"],
		["models:\n  entries:\n    '5':\n      name: ''\n", "4:7: models.entries[5].name: expected text"],
		["models:\n  entries:\n    a:\n      price: {input: 1}\n", "4:7: models.entries.a.price.output: is required"],
		["upstreams:\n  a:\n    url: http://x\n    key: ${NOPE}\n", "4:5: upstreams.a.key: environment variable NOPE"],
		["upstreams:\n  a:\n    provider: bedrock\n", "2:3: upstreams.a: expected options.region"],
		["server:\n  port: 1\n  idleTimeoutSeconds: 3\n", "3:3: server.idleTimeoutSeconds: expected 0"],
		["log: &shared {level: loud}\n", "1:15: log.level: must be one of"],
		["rpc:\n  networks:\n    a-b:\n      upstreams:\n        - url: http://a\n        - url: nope\n", "6:11: rpc.networks"],
		["traces:\n  share: 1\n  url: http://\n", "3:3: traces.url: expected an address"],
		["alerts:\n  url: http://a\n", "1:1: alerts.secret: alerts are signed with it"],
		[
			"costs:\n  search-request: 0.005\n  nonsense: 1\n",
			"3:3: costs.nonsense: expected a sku of a statement, like search-request",
		],
		["costs: {a-llm-outputs-mtoken: 1}\n", "1:9: costs.a-llm-outputs-mtoken: expected a sku"],
		["staking:\n  diemPerToken: '0'\n", "2:3: staking.diemPerToken: expected more than 0"],
		["accounts:\n  startingCreditUsd: -5\n", "2:3: accounts.startingCreditUsd: expected a decimal number"],
	];
	for (const [yaml, place] of rows) expect(fault(yaml), yaml).toContain(`turnpike.yaml:${place}`);
	expect(fault("server: &s\n  prot: 1\ntraces: *s\n")).toMatch(/yaml:2:3: server\.prot: .*\n.*yaml:2:3: traces\.prot: /);
});

test("what is no mapping where one is needed is a fault of the configuration, no crash", () => {
	for (const path of ["x402.networks", "limits.tiers", "upstreams", "costs", "models.entries", "rpc.networks", "web.search"]) {
		const [section = "", member] = path.split(".");
		for (const value of ["[a]", "[[]]", "text", "5"])
			expect(fault(`${section}: ${member === undefined ? value : `{${member}: ${value}}`}\n`), `${path} ${value}`).toContain(
				`${path}: must be object`,
			);
	}
});

test("numbers that nothing can count with, and addresses that are none, are refused wherever they stand", () => {
	for (const [yaml, path] of [
		["limits: {maxCompletionTokens: 1e300}", "limits.maxCompletionTokens"],
		["staking: {chain: {id: 1e17}}", "staking.chain.id"],
		["journal: {minFreeDiskMb: 1e300}", "journal.minFreeDiskMb"],
		["models: {entries: {m: {contextTokens: 1e300}}}", "models.entries.m.contextTokens"],
		["alerts: {booksEveryMs: 1e10}", "alerts.booksEveryMs"],
		["alerts: {balanceBelowUsd: 1e300}", "alerts.balanceBelowUsd"],
		["alerts: {url: 'https://a b', secret: 0123456789abcdef}", "alerts.url"],
		["traces: {url: 'http://'}", "traces.url"],
		["staking: {chain: {rpcUrl: 'http://'}, contract: '0x000000000000000000000000000000000000bEEF'}", "staking.chain.rpcUrl"],
	] as const)
		expect(fault(`${yaml}\n`), yaml).toContain(`${path}: `);
});
