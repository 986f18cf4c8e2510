import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "..", "..");
/** An upstream that is down: the server must start all the same, and needs no download. */
const UPSTREAM = "http://127.0.0.1:9/v1";

const data = mkdtempSync(join(tmpdir(), "turnpike-npm-start-"));
afterAll(() => rmSync(data, { recursive: true, force: true }));

interface Started {
	readonly child: Bun.Subprocess<"ignore", "pipe", "ignore">;
	readonly url: string;
	/** All that it printed up to now. */
	said(): string;
}

/** `npm start` as an operator types it, up to the line that says where it listens. */
async function npmStart(port: string): Promise<Started> {
	const child = Bun.spawn(["npm", "start", "--", "--port", port, "--data", data], {
		cwd: ROOT,
		env: { ...process.env, TURNPIKE_OPENAI_UPSTREAM: UPSTREAM },
		stdin: "ignore",
		stdout: "pipe",
		stderr: "ignore",
	});
	let text = "";
	const found = Promise.withResolvers<string>();
	void (async () => {
		const decoder = new TextDecoder();
		for await (const piece of child.stdout) {
			text += decoder.decode(piece, { stream: true });
			const url = /http:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0];
			if (url !== undefined && text.includes("curl")) found.resolve(url);
		}
		found.reject(new Error(`npm start said no address: ${text}`));
	})();
	return { child, url: await found.promise, said: () => text };
}

test("npm start serves, prints its key once, drains on SIGTERM to npm with exit code 0, and starts again", async () => {
	const first = await npmStart("0");
	expect((await fetch(`${first.url}/healthz`)).status).toBe(200);
	const key = /sk_adm_\w+/.exec(first.said())?.[0] ?? "";
	const models = await fetch(`${first.url}/api/v1/models`, { headers: { authorization: `Bearer ${key}` } });
	expect(models.status).toBe(200);
	await models.body?.cancel();
	expect(Number(readFileSync(join(data, "serve.pid"), "utf8"))).toBeGreaterThan(1);
	first.child.kill("SIGTERM");
	expect(await first.child.exited).toBe(0);
	expect(existsSync(join(data, "serve.pid"))).toBe(false);

	const second = await npmStart("0");
	expect(second.said()).not.toContain("sk_adm_");
	const again = await fetch(`${second.url}/api/v1/models`, { headers: { authorization: `Bearer ${key}` } });
	expect(again.status).toBe(200);
	await again.body?.cancel();
	second.child.kill("SIGTERM");
	expect(await second.child.exited).toBe(0);
});

test("a taken port ends npm start with 1 and a text", async () => {
	const taken = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
	try {
		const child = Bun.spawn(["npm", "start", "--", "--port", String(taken.port), "--data", join(data, "other")], {
			cwd: ROOT,
			env: { ...process.env, TURNPIKE_OPENAI_UPSTREAM: UPSTREAM },
			stdout: "ignore",
			stderr: "pipe",
		});
		const said = await new Response(child.stderr).text();
		expect(await child.exited).toBe(1);
		expect(said).toContain(String(taken.port));
	} finally {
		await taken.stop(true);
	}
});
