import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { ADMIN_KEY, type Served, serve } from "../support/served.ts";
import { until } from "../support/until.ts";

const MAIN = join(import.meta.dir, "../../src/main.ts");

let server: Served;
beforeAll(async () => {
	server = await serve({ config: { log: { level: "info", requests: true }, chat: { embedded: { enabled: false } } } });
});
afterAll(() => server.remove());

/** The first line of the log with this message, behind what was there before; waited for. */
async function logged(message: string, from = 0): Promise<Record<string, unknown>> {
	const find = () =>
		server
			.stderr()
			.slice(from)
			.split("\n")
			.find((each) => each.includes(`"msg":"${message}"`) && each.endsWith("}"));
	await until(() => find() !== undefined, message);
	return JSON.parse(find() ?? "");
}

function command(...args: string[]) {
	return Bun.spawnSync([process.execPath, MAIN, ...args, "--config", server.configFile, "--data", server.dataDir], {
		stderr: "pipe",
	});
}

test("each request has one line at level info, without its key or its content", async () => {
	const answer = await fetch(`${server.url}/api/v1/chat/completions`, {
		method: "POST",
		headers: { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json", cookie: "session=not-for-logs" },
		body: JSON.stringify({ model: "none", messages: [{ role: "user", content: "a prompt not for logs" }] }),
	});
	const line = await logged("request");
	expect(line).toMatchObject({
		requestId: answer.headers.get("x-request-id"),
		method: "POST",
		endpoint: "chat",
		status: answer.status,
		code: "MODEL_NOT_FOUND",
	});
	for (const secret of [ADMIN_KEY, "not-for-logs", "a prompt"]) expect(server.stderr()).not.toContain(secret);
});

test("the level of a running server is changed by a command and by a signal, and a wrong one is refused", async () => {
	expect(command("log", "level", "loud").exitCode).toBe(64);
	const before = server.stderr().length;
	expect(command("log", "level", "debug").exitCode).toBe(0);
	expect(await logged("the log level has changed", before)).toMatchObject({ newLevel: "debug" });
	const between = server.stderr().length;
	await fetch(`${server.url}/api/v1/models`, { headers: { authorization: `Bearer ${ADMIN_KEY}` } });
	await logged("answered", between);
	const signalled = server.stderr().length;
	server.kill("SIGUSR2");
	await logged("the log level has changed", signalled);
});
