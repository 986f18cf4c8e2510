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
	expect(fault("server:\n  prot: 3\n")).toContain("turnpike.yaml: server.prot: Unrecognized key");
	expect(fault("sever: {}\n")).toContain("sever: Unrecognized key");
	expect(fault("server:\n  port: many\n")).toContain("server.port: must be integer");
	expect(fault("server: [1\n")).toMatch(/turnpike\.yaml:\d+:\d+: /);
	expect(fault("- a\n")).toContain("expected a mapping");
	expect(fault("log: {level: info}\nlog: {level: warn}\n")).toContain("Map keys must be unique");
	expect(fault("upstreams:\n  a: {url: 'ftp://x'}\n")).toContain("upstreams.a.url: must match");
	expect(fault("models:\n  entries:\n    m: {upstreams: [{upstream: nowhere}]}\n")).toContain(
		"upstream: expected one of embedded, not nowhere",
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
