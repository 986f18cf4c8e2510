/** The blocks of the documentation that are marked with `<!-- run -->`, as a reader pastes them, with the clients as they are published. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { type FullGateway, startFullGateway } from "../support/full-gateway.ts";
import { startUsdcChain, type UsdcChain, units } from "../support/usdc-chain.ts";
import { hasPython, pythonForExamples } from "./python.ts";

const ROOT = join(import.meta.dir, "../..");
const hasShell = Bun.which("curl") !== null && Bun.which("bash") !== null;

interface Block {
	readonly page: string;
	/** What stands behind `run`: how it is run. */
	readonly how: string;
	readonly language: string;
	readonly code: string;
}

const MARKED = /<!-- run(?:: (\w+))? -->\n```(\w+)\n([\s\S]*?)\n```/g;

function blocksOf(page: string): Block[] {
	const text = readFileSync(join(ROOT, "docs", page), "utf8");
	return [...text.matchAll(MARKED)].map(([, how = "", language = "", code = ""]) => ({ page, how, language, code }));
}

const folders = ["quickstart", "guides"];
const pages = folders.flatMap((folder) => readdirSync(join(ROOT, "docs", folder)).map((name) => `${folder}/${name}`));
const blocks = pages.flatMap(blocksOf);

const folder = mkdtempSync(join(tmpdir(), "turnpike-guides-"));
let usdc: UsdcChain;
let fixture: FullGateway;
let env: Record<string, string>;

beforeAll(async () => {
	usdc = await startUsdcChain();
	const { key } = await usdc.feePayer();
	const payTo = privateKeyToAccount(generatePrivateKey()).address;
	fixture = await startFullGateway(usdc.url, {
		x402: { payTo, rpcUrl: usdc.url, facilitator: { key }, sweepEveryMs: 3_600_000 },
	});
	const walletKey = generatePrivateKey();
	await usdc.write("mint", [privateKeyToAccount(walletKey).address, units(100)]);
	symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
	mkdirSync(join(folder, "bin"));
	// In a checkout `npx --no -- turnpike` finds the command beside package.json.
	writeFileSync(join(folder, "package.json"), readFileSync(join(ROOT, "package.json")));
	env = { PATH: process.env.PATH ?? "", HOME: folder, TURNPIKE_KEY: fixture.gate.key, WALLET_KEY: walletKey };
});
afterAll(async () => {
	await fixture?.stop();
	await usdc?.stop();
	rmSync(folder, { recursive: true, force: true });
});

async function run(command: readonly string[], cwd = folder): Promise<string> {
	const child = Bun.spawn([...command], { cwd, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
	const [out, fault] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
	if ((await child.exited) !== 0) throw new Error(`${command.slice(-1)}\n${out}\n${fault}`);
	return out;
}

/** The code with the gateway's address in the place of the one that `npm start` has. */
const aimed = ({ code }: Block) => code.replaceAll("http://127.0.0.1:8787", fixture.gate.url);

test("every guide has something to run, and no mark is misspelt", () => {
	for (const page of pages.filter((name) => name.startsWith("guides/")))
		expect([page, blocksOf(page).length > 0]).toEqual([page, true]);
	const marks = pages.reduce((sum, page) => sum + readFileSync(join(ROOT, "docs", page), "utf8").split("<!-- run").length - 1, 0);
	expect(blocks.length).toBe(marks);
});

describe("runs as it stands:", () => {
	const titled = (language: string, how = "") =>
		blocks
			.filter((block) => block.language === language && block.how === how)
			.map((block, index) => ({ ...block, name: `${block.page}, ${language} ${index + 1}`, file: `block-${how}-${index}` }));

	test.each([...titled("ts"), ...titled("ts", "paying")])("$name", async (block) => {
		const file = join(folder, `${block.file}.ts`);
		writeFileSync(file, `${aimed(block)}\nexport {};\n`);
		expect((await run([process.execPath, file])).length).toBeGreaterThan(0);
	});

	test.skipIf(!hasPython).each(titled("python"))("$name", async (block) => {
		const program = pythonForExamples();
		expect((await run([program, "-c", aimed(block)])).length).toBeGreaterThan(0);
	});

	test.skipIf(!hasShell).each(titled("sh"))("$name", async (block) => {
		expect((await run(["bash", "-ec", aimed(block)])).length).toBeGreaterThan(0);
	});

	test.skipIf(!hasShell).each(titled("sh", "offer"))("$name", async (block) => {
		const answer = await run(["bash", "-ec", aimed(block)]);
		expect(answer).toStartWith("HTTP/1.1 402 ");
		expect(answer.toLowerCase()).toContain("\r\npayment-required: ");
		expect(answer).toContain('"sign-in-with-x"');
	});

	test.skipIf(!hasShell).each(titled("sh", "commands"))("$name", async (block) => {
		const place = join(folder, "tried");
		const code = block.code.replaceAll("/tmp/turnpike-try", place);
		await run(["bash", "-ec", code], ROOT);
		expect(existsSync(join(place, "turnpike.yaml"))).toBe(true);
	});
});
