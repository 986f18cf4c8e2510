import { describe, expect, test } from "bun:test";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "./load.ts";

const config = (entry: string, env = {}) => {
	const folder = mkdtempSync(join(tmpdir(), "turnpike-"));
	writeFileSync(join(folder, "turnpike.yaml"), `upstreams:\n  a: ${entry}\n`);
	return loadConfig({}, env, folder).config.upstreams.a;
};
const fault = (entry: string): string => {
	try {
		config(entry);
		return "no fault";
	} catch (error) {
		return String(error);
	}
};

describe("an upstream that names a provider", () => {
	test("is at the provider's own address, and is not asked for a list", () => {
		expect(config("{provider: anthropic, key: '${KEY}'}", { KEY: "k" })).toMatchObject({
			...{ provider: "anthropic", url: "https://api.anthropic.com/v1", key: "k", discover: false },
		});
		expect(config("{provider: bedrock, key: k, options: {region: eu-west-1}}")?.url).toBe(
			"https://bedrock-runtime.eu-west-1.amazonaws.com",
		);
		expect(config("{provider: groq, key: k, url: 'http://127.0.0.1:9/v1'}")?.url).toBe("http://127.0.0.1:9/v1");
	});

	test("says what it lacks, and which options it knows", () => {
		expect(fault("{}")).toContain("upstreams.a: expected a url, or the name of a provider");
		expect(fault("{provider: anthropic}")).toContain("upstreams.a: expected key for the provider anthropic");
		expect(fault("{provider: bedrock, key: k}")).toContain(
			"expected options.region, key; or options.region, options.accessKeyId, options.secretAccessKey for the provider bedrock",
		);
		expect(fault("{provider: groq, key: k, options: {region: x}}")).toContain(
			"upstreams.a.options.region: expected no options: groq takes none",
		);
		expect(fault("{provider: azure, key: k, options: {region: x, resource: y}}")).toContain(
			"upstreams.a.options.region: expected one of resource, apiVersion",
		);
		expect(fault("{provider: nobody, key: k}")).toContain("upstreams.a.provider");
		expect(fault("{url: 'http://127.0.0.1:9/v1', options: {region: x}}")).toContain(
			"upstreams.a.options: expected a provider that takes them",
		);
	});
});
