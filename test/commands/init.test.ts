/** `turnpike init` as a person and as a script run it. */
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Config, loadConfig } from "../../src/config/index.ts";
import { turnpike } from "../support/served.ts";
import { onTerminal } from "../support/terminal.ts";

const folders: string[] = [];
afterAll(() => {
	for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function folder(): string {
	const made = mkdtempSync(join(tmpdir(), "turnpike-init-test-"));
	folders.push(made);
	return made;
}

/** The file as a server loads it, with these variables set. */
function loaded(config: string, env: Readonly<Record<string, string>> = {}): Config {
	return loadConfig({ config }, env, join(config, "..")).config;
}

const PAY_TO = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";

describe("without a terminal", () => {
	test("writes what the options say, keeps secrets out of it, and a server takes it", async () => {
		const file = join(folder(), "turnpike.yaml");
		const { code, stdout } = await turnpike([
			"init",
			`--config=${file}`,
			"--host=0.0.0.0",
			"--port=9001",
			"--public-url=https://api.example.com",
			"--store=postgres://gate:open-sesame@db.internal/books",
			"--upstreams=gpu=http://10.0.0.5:8000/v1,openai,other=https://models.example.com/v1:OTHER_KEY",
			"--chains=base-mainnet=http://localhost:8545",
			`--pay-to=${PAY_TO}`,
		]);
		expect(code).toBe(0);
		expect(stdout).toContain("PGPASSWORD, OPENAI_API_KEY, OTHER_KEY, BASE_RPC, FACILITATOR_KEY");
		const example = readFileSync(join(file, "../.env.example"), "utf8");
		expect(readFileSync(file, "utf8") + example).not.toContain("open-sesame");
		const names = [...example.matchAll(/^([A-Z_]+)=$/gm)].map(([, name]) => name ?? "");
		const values = Object.fromEntries(names.map((name) => [name, name === "BASE_RPC" ? "http://localhost:1" : "a".repeat(64)]));
		const config = loaded(file, values);
		expect(config.server).toMatchObject({ host: "0.0.0.0", port: 9001, publicUrl: "https://api.example.com" });
		expect(config.store).toBe(`postgres://gate:${"a".repeat(64)}@db.internal/books`);
		expect(config.upstreams).toMatchObject({
			gpu: { url: "http://10.0.0.5:8000/v1", discover: true },
			openai: { provider: "openai", discover: false },
			other: { url: "https://models.example.com/v1", discover: false },
		});
		expect(config.rpc.networks["base-mainnet"]?.upstreams[0]?.url).toBe("http://localhost:8545");
		expect(config.x402.payTo).toBe(PAY_TO);
	});

	test("without options a server starts as without a file", async () => {
		const file = join(folder(), "turnpike.yaml");
		expect((await turnpike(["init", "--config", file])).code).toBe(0);
		expect(loaded(file)).toEqual(loadConfig({}, {}, join(file, "..")).config);
	});

	test("writes over nothing, unless it is told to", async () => {
		for (const name of ["turnpike.yaml", ".env.example"]) {
			const place = folder();
			writeFileSync(join(place, name), "mine");
			const refused = await turnpike(["init", "--config", join(place, "turnpike.yaml")]);
			expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(name)]);
			expect(readFileSync(join(place, name), "utf8")).toBe("mine");
			expect((await turnpike(["init", "--force", "--config", join(place, "turnpike.yaml")])).code).toBe(0);
			expect(readFileSync(join(place, name), "utf8")).not.toBe("mine");
		}
	});

	test.each([
		["--port=70000", "0 to 65535"],
		["--host=a b", "address of this machine"],
		["--public-url=example.com", "http://"],
		["--store=mysql://x", "postgres://"],
		["--upstreams=nobody-knows-it", "NAME=ADDRESS"],
		["--upstreams=a=http://x/v1,a=http://y/v1", "twice"],
		["--chains=ethereum-mainnet", "http://"],
		["--chains=moon-mainnet=http://localhost:1", "moon-mainnet"],
		["--upstreams=azure", "azure"],
		["--pay-to=0x12", "40 hex digits"],
		["--pay-to=0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD", "checksum"],
	])("refuses %s, says why, and writes nothing", async (option, why) => {
		const file = join(folder(), "turnpike.yaml");
		const { code, stderr } = await turnpike(["init", "--config", file, option]);
		expect([code, stderr]).toEqual([64, expect.stringContaining(why)]);
		expect(existsSync(file)).toBe(false);
	});
});

describe("on a terminal", () => {
	test("asks what no option says, again where the answer is wrong, and takes defaults for empty ones", async () => {
		const file = join(folder(), "turnpike.yaml");
		const terminal = onTerminal(["init", "--config", file, "--host", "127.0.0.1"]);
		await terminal.answer("Port [8787]", "abc");
		await terminal.answer("expected a number", "9002");
		await terminal.answer("callers use", "");
		await terminal.answer("sqlite]", "");
		await terminal.answer("Model servers", "local=http://localhost:11434/v1");
		await terminal.answer("chains", "");
		await terminal.answer("payments of wallets", "");
		expect(await terminal.exited).toBe(0);
		expect(terminal.screen()).not.toContain("Address to listen on");
		const config = loaded(file);
		expect(config.server.port).toBe(9002);
		expect(config.upstreams.local).toMatchObject({ url: "http://localhost:11434/v1", dialect: "ollama" });
	});

	test("Ctrl-C leaves no file", async () => {
		const file = join(folder(), "turnpike.yaml");
		const terminal = onTerminal(["init", "--config", file]);
		await terminal.answer("Address to listen on", "");
		await terminal.type("Port", "\x03");
		expect(await terminal.exited).toBe(130);
		expect(existsSync(file)).toBe(false);
	});
});
