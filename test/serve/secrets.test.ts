/** Secrets that are replaced while the server runs: by the file that they stand in. */
import { expect, test } from "bun:test";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HELLO, pricedModel } from "../support/chat-bodies.ts";
import { upstreamEntry } from "../support/running-gateway.ts";
import { startScriptedUpstream } from "../support/scripted-upstream.ts";
import { serve, temporaryFolder } from "../support/served.ts";
import { until } from "../support/until.ts";

test("a key in a file is read again when the file changes, and a bad file leaves the old key in force", async () => {
	const upstream = startScriptedUpstream();
	const dataDir = temporaryFolder();
	const file = join(dataDir, "upstream-key");
	const replace = (secret: string) => {
		writeFileSync(`${file}.new`, secret);
		renameSync(`${file}.new`, file);
	};
	replace("sk-first\n");
	const server = await serve({
		dataDir,
		config: {
			upstreams: { scripted: { ...upstreamEntry(upstream.url), key: `\${file:${file}}` } },
			models: { entries: { priced: pricedModel(["scripted"]) } },
		},
	});
	const keyUsed = async () => {
		expect((await server.chat({ model: "priced", messages: HELLO })).status).toBe(200);
		return upstream.requests.at(-1)?.headers.get("authorization");
	};
	expect(await keyUsed()).toBe("Bearer sk-first");
	replace("sk-second");
	await until(async () => (await keyUsed()) === "Bearer sk-second", "the second key is used");
	rmSync(file);
	await until(() => server.stderr().includes("cannot be read (ENOENT)"), "the log names the missing file");
	expect(await keyUsed()).toBe("Bearer sk-second");
	replace("sk-third");
	await until(async () => (await keyUsed()) === "Bearer sk-third", "the third key is used");
	expect(server.stderr()).not.toContain("sk-");
	server.kill("SIGTERM");
	expect(await server.exited).toBe(0);
	server.remove();
	await upstream.stop();
});
