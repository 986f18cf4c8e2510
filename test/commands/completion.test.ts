/** What `turnpike completion` prints, loaded by the shells themselves where they are here. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { turnpike } from "../support/served.ts";

const folder = mkdtempSync(join(tmpdir(), "turnpike-completion-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const shells = ["bash", "zsh", "fish"] as const;
const scriptOf = (shell: string) => join(folder, `completion.${shell}`);

beforeAll(async () => {
	for (const shell of shells) {
		const { code, stdout } = await turnpike(["completion", shell]);
		expect(code).toBe(0);
		writeFileSync(scriptOf(shell), stdout);
	}
});

async function run(program: string, script: string): Promise<string> {
	const child = Bun.spawn([program, "-c", script], { cwd: folder, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
	const [out, fault] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
	expect([await child.exited, fault]).toEqual([0, ""]);
	return out;
}

/** What a line in bash is completed with. */
async function inBash(...words: string[]): Promise<string[]> {
	const typed = words.map((word) => `'${word}'`).join(" ");
	const out = await run(
		"bash",
		`source ${scriptOf("bash")}; COMP_WORDS=(turnpike ${typed}); COMP_CWORD=${words.length}; _turnpike; printf '%s\\n' "\${COMPREPLY[@]}"`,
	);
	return out.split("\n").filter((line) => line !== "");
}

const bash = Bun.which("bash") !== null;

test.skipIf(!bash)("bash completes commands, those below them, options and choices", async () => {
	expect(await inBash("acc")).toEqual(["accounts"]);
	expect(await inBash("")).toContain("completion");
	expect(await inBash("accounts", "cr")).toEqual(["create", "credit"]);
	expect(await inBash("accounts", "create", "somebody", "--cr")).toEqual(["--credit"]);
	expect(await inBash("completion", "")).toEqual([...shells]);
	expect(await inBash("serve", "--port", "")).toEqual([]);
});

test.skipIf(!bash)("bash completes the files and folders that an option wants", async () => {
	writeFileSync(join(folder, "a file.yaml"), "");
	expect(await inBash("serve", "--config", "a f")).toEqual(["a file.yaml"]);
	expect(await inBash("serve", "--data", "a f")).toEqual([]);
});

test.skipIf(Bun.which("zsh") === null)("zsh reads its script", async () => {
	await run("zsh", `zsh -n ${scriptOf("zsh")}`);
});

test.skipIf(Bun.which("fish") === null)("fish completes the same", async () => {
	const out = await run("fish", `source ${scriptOf("fish")}; complete -C 'turnpike accounts cr'`);
	expect(out.split("\n").map((line) => line.split("\t")[0])).toEqual(["create", "credit", ""]);
});

test("a shell that it does not know gets no script", async () => {
	const { code, stdout, stderr } = await turnpike(["completion", "tcsh"]);
	expect([code, stdout, stderr]).toEqual([64, "", expect.stringContaining("bash, zsh, fish")]);
});
