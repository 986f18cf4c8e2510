import { expect, test } from "bun:test";
import { join } from "node:path";

test("nothing that reads files or the web is loaded before a conversation asks for it", async () => {
	const program = `
		await import(${JSON.stringify(join(import.meta.dir, "index.ts"))});
		const names = ["prepare.ts", "gather-web-results.ts", "search-decision.ts", "rewritten-input.ts", "read-files.ts", "untrusted-text.ts"];
		console.log(JSON.stringify(Object.keys(require.cache).filter((file) => names.some((name) => file.endsWith("/" + name)))));
		await import(${JSON.stringify(join(import.meta.dir, "prepare.ts"))});
		console.log(Object.keys(require.cache).filter((file) => names.some((name) => file.endsWith("/" + name))).length);`;
	const child = Bun.spawn([process.execPath, "-e", program], { stdout: "pipe", stderr: "pipe" });
	expect((await new Response(child.stdout).text()).trim().split("\n")).toEqual(["[]", "6"]);
});
