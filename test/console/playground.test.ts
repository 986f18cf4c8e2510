import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { added, asSent, type Chunk, EMPTY_ANSWER, openCalls, type Turn } from "../../console/src/playground/conversation.ts";
import { eventsOf } from "../../console/src/playground/events.ts";
import { type SampleRequest, sample } from "../../console/src/playground/samples.ts";

interface Received {
	readonly path: string;
	readonly key: string | null;
	readonly json: unknown;
	readonly form: Readonly<Record<string, string>>;
}

let received: Received[] = [];
let server: Bun.Server<undefined>;
let folder: string;
beforeAll(() => {
	folder = mkdtempSync(join(tmpdir(), "turnpike-samples-"));
	writeFileSync(join(folder, "it's a photo.png"), "the bytes of a picture");
	server = Bun.serve({
		port: 0,
		hostname: "127.0.0.1",
		async fetch(request) {
			const type = request.headers.get("content-type") ?? "";
			// Line ends of a form become CRLF where a client follows the HTML standard.
			const form: Record<string, string> = {};
			if (type.startsWith("multipart/"))
				for (const [name, value] of await request.formData())
					form[name] = typeof value === "string" ? value.replaceAll("\r\n", "\n") : await value.text();
			const { pathname } = new URL(request.url);
			const json = type.startsWith("application/json") || pathname === "/told" ? await request.json() : null;
			received.push({ path: pathname, key: request.headers.get("authorization"), json, form });
			return Response.json({ ok: true });
		},
	});
	// In place of the package: it says what it was asked for.
	writeFileSync(
		join(folder, "requests.py"),
		`class Answer:
    content = b"made"
    def raise_for_status(self): pass
    def json(self): return {}
def post(url, headers, json=None, files=None, data=None):
    import urllib.request, json as j
    told = {"url": url, "key": headers["Authorization"], "json": json, "data": data, "files": {k: v.read().decode() for k, v in (files or {}).items()}}
    urllib.request.urlopen(urllib.request.Request("http://127.0.0.1:${server.port}/told", j.dumps(told).encode()))
    return Answer()
`,
	);
});
afterAll(async () => {
	await server.stop(true);
	rmSync(folder, { recursive: true, force: true });
});

const base = () => `http://127.0.0.1:${server.port}`;
const HARD = `it's "quoted" $HOME \`date\` \\n ü 漢字\nnext line`;

/** Runs a program in the folder of the files, with a key in its environment, and returns what the server got. */
async function run(cmd: string[]): Promise<Received | undefined> {
	received = [];
	const child = Bun.spawn(cmd, {
		cwd: folder,
		env: { ...process.env, TURNPIKE_KEY: "sk_inf_of-a-test", PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: "1" },
		stdout: "pipe",
		stderr: "pipe",
	});
	const [said, code] = await Promise.all([new Response(child.stderr).text(), child.exited]);
	if (code !== 0) throw new Error(said);
	return received[0];
}

const JSON_REQUEST: SampleRequest = {
	path: "/audio/speech",
	json: { input: HARD, speed: 1.25, deep: { on: true, none: null, list: [1, "two", { three: false }] } },
	answer: { saveAs: "out.bin" },
};
const FORM_REQUEST: SampleRequest = {
	path: "/image/edit",
	form: { prompt: HARD, model: "@local" },
	file: { field: "image", name: "it's a photo.png" },
	answer: { saveAs: "edited.png" },
};

test.skipIf(Bun.which("curl") === null)("the sample for curl sends the very same request", async () => {
	const json = await run(["sh", "-c", sample("curl", JSON_REQUEST, base())]);
	expect(json).toMatchObject({ path: "/api/v1/audio/speech", key: "Bearer sk_inf_of-a-test", json: JSON_REQUEST.json });
	const form = await run(["sh", "-c", sample("curl", FORM_REQUEST, base())]);
	expect(form?.form).toEqual({ ...FORM_REQUEST.form, image: "the bytes of a picture" });
});

test("the sample in TypeScript sends the very same request", async () => {
	const asFile = async (request: SampleRequest) => {
		const file = join(folder, "sample.ts");
		writeFileSync(file, sample("typescript", request, base()));
		return run([process.execPath, file]);
	};
	expect(await asFile(JSON_REQUEST)).toMatchObject({ key: "Bearer sk_inf_of-a-test", json: JSON_REQUEST.json });
	expect((await asFile(FORM_REQUEST))?.form).toEqual({ ...FORM_REQUEST.form, image: "the bytes of a picture" });
});

test.skipIf(Bun.which("python3") === null)("the sample in Python sends the very same request", async () => {
	const told = async (request: SampleRequest) => (await run(["python3", "-c", sample("python", request, base())]))?.json;
	expect(await told(JSON_REQUEST)).toMatchObject({
		url: `${base()}/api/v1/audio/speech`,
		key: "Bearer sk_inf_of-a-test",
		json: JSON_REQUEST.json,
	});
	expect(await told(FORM_REQUEST)).toMatchObject({ data: FORM_REQUEST.form, files: { image: "the bytes of a picture" } });
});

test("samples of chat use the clients of OpenAI as they are", () => {
	const chat: SampleRequest = { path: "/chat/completions", json: { model: "m", stream: true, tools: [] }, answer: "stream" };
	expect(sample("python", chat, "http://host")).toContain("    stream=True,");
	expect(sample("typescript", chat, "http://host")).toContain('baseURL: "http://host/api/v1"');
	expect(sample("curl", chat, "http://host")).toEndWith("-N");
});

const bodyOf = (...parts: readonly string[]) =>
	new Response(
		new ReadableStream({
			start(controller) {
				for (const part of parts) controller.enqueue(new TextEncoder().encode(part));
				controller.close();
			},
		}),
	);

test("reads events cut anywhere, past comments, until the end is said", async () => {
	const text = ': ping\n\ndata: {"a":1}\r\n\r\ndata: two\ndata: lines\n\nevent: x\ndata:3\n\ndata: [DONE]\n\ndata: late\n\n';
	for (const size of [1, 7, text.length]) {
		const parts = text.match(new RegExp(`[\\s\\S]{1,${size}}`, "g")) ?? [];
		expect(await Array.fromAsync(eventsOf(bodyOf(...parts)))).toEqual(['{"a":1}', "two\nlines", "3"]);
	}
});

test("puts an answer together: text, thoughts, and calls whose arguments come in pieces", () => {
	const chunks: Chunk[] = [
		{ choices: [{ delta: { reasoning_content: "hm" } }] },
		{ choices: [{ delta: { content: "Let me " } }] },
		{
			choices: [
				{ delta: { content: "look.", tool_calls: [{ index: 0, id: "c1", function: { name: "weather", arguments: '{"a' } }] } },
			],
		},
		{ choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: '":1}' } }] } }] },
		{ choices: [{ delta: { tool_calls: [{ index: 1, id: "c2", function: { name: "time" } }] } }] },
		{ choices: [] },
	];
	const answer = chunks.reduce(added, EMPTY_ANSWER);
	expect(answer).toEqual({
		role: "assistant",
		content: "Let me look.",
		thoughts: "hm",
		tool_calls: [
			{ id: "c1", type: "function", function: { name: "weather", arguments: '{"a":1}' } },
			{ id: "c2", type: "function", function: { name: "time", arguments: "" } },
		],
	});
	const turns: Turn[] = [{ role: "user", content: "?" }, answer];
	expect(openCalls(turns).map(({ id }) => id)).toEqual(["c1", "c2"]);
	expect(asSent(turns)[1]).not.toHaveProperty("thoughts");
	expect(() => added(answer, { error: { message: "it broke" } })).toThrow("it broke");
});
