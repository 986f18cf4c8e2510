import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "./load.ts";
import { HIDDEN, shownConfig, shownUrl } from "./shown-config.ts";

/** Every place of the configuration where a secret may stand, with one in it. */
const WITH_SECRETS = `
server: {publicUrl: "https://api.example.test/base"}
store: postgres://operator:SECRET1@db.example.test/books
metrics: {token: SECRET2-long-enough}
staking: {chain: {rpcUrl: "https://base.example.test/SECRET3"}, contract: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"}
upstreams:
  one: {url: "https://u:SECRET4@models.example.test/v1?key=SECRET5", key: SECRET6, headers: {x-anything: SECRET7}}
  cloud: {provider: bedrock, options: {region: eu-1, accessKeyId: SECRET8, secretAccessKey: SECRET9}}
rpc: {networks: {ethereum-mainnet: {upstreams: [{url: "https://chain.example.test/v2/SECRET10", headers: {authorization: Bearer SECRET11}}]}}}
web: {search: {brave: {key: SECRET12}}}
x402:
  payTo: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
  rpcUrl: https://pay.example.test/SECRET13
  facilitator: {url: "https://facilitator.example.test/SECRET14", headers: {x-token: SECRET15}}
`;

function shownOf(yaml: string): Record<string, unknown> {
	const folder = mkdtempSync(join(tmpdir(), "turnpike-shown-"));
	try {
		writeFileSync(join(folder, "turnpike.yaml"), yaml);
		return shownConfig(loadConfig({}, {}, folder).config);
	} finally {
		rmSync(folder, { recursive: true });
	}
}

test("no secret of any section is shown", () => {
	const shown = JSON.stringify(shownOf(WITH_SECRETS));
	expect(shown.match(/SECRET\d+/g)).toBeNull();
	expect(shown).not.toContain("operator:");
});

test("a private key of the environment is not shown", () => {
	const key = "ab".repeat(32);
	const env = {
		TURNPIKE_X402_PAY_TO: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
		TURNPIKE_X402_KEY: key,
		TURNPIKE_X402_RPC: "https://n.test/k",
	};
	const { config } = loadConfig({}, env, tmpdir());
	expect(JSON.stringify(config)).toContain(key);
	expect(JSON.stringify(shownConfig(config))).not.toContain(key);
});

test("what is no secret is shown", () => {
	expect(shownOf(WITH_SECRETS)).toMatchObject({
		server: { publicUrl: "https://api.example.test/base", port: 8787 },
		store: "postgres://db.example.test/...",
		metrics: { token: HIDDEN },
		staking: { token: "diem", chain: { rpcUrl: "https://base.example.test/..." } },
		upstreams: {
			one: { url: "https://models.example.test/v1", key: HIDDEN, headers: { "x-anything": HIDDEN } },
			cloud: { options: { region: "eu-1", accessKeyId: HIDDEN } },
		},
		x402: { payTo: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed" },
	});
});

test.each([
	["https://a.test", true, "https://a.test"],
	["https://u:p@a.test:8/v1/?x=1#y", true, "https://a.test:8/v1/"],
	["https://a.test/key", false, "https://a.test/..."],
	["https://a.test/?key=x", false, "https://a.test"],
	["no address", true, HIDDEN],
])("%p is shown as %p: %p", (address, withPath, shown) => {
	expect(shownUrl(address, withPath)).toBe(shown);
});

test("a list of hosts of the store is shown without its password", () => {
	const { config } = loadConfig({}, { TURNPIKE_STORE: "postgres://u:secret@one:1,two:2/books" }, tmpdir());
	expect(shownConfig(config).store).toBe("postgres://one:1/..., postgres://two:2/...");
});
