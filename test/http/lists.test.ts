/** The lists: their queries at each edge, and what they show. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { MODEL_TYPES } from "../../src/catalog/types.ts";
import { type ChatGateway, type ErrorAnswer, MODEL, modelEntry, startChatGateway } from "./chat-gateway.ts";

const RETIRED = "retired-model";
const SLASHED = "org/some-model:8b-q4";
const ODD = "odd name/é&=?#%";
let fixture: ChatGateway;

beforeAll(async () => {
	const deprecation = {
		autoRemap: true,
		date: "2020-01-01T00:00:00Z",
		removesAt: "2020-06-01T00:00:00Z",
		replacementModelId: MODEL,
	};
	const free = { price: { input: 0, output: 0 } };
	fixture = await startChatGateway({
		models: { [RETIRED]: modelEntry({ ...free, deprecation }), [SLASHED]: modelEntry(free), [ODD]: modelEntry(free) },
	});
});
afterAll(() => fixture.stop());

interface List {
	readonly object: string;
	readonly type: string;
	readonly data: readonly { readonly id: string; readonly type: string; readonly created: number; readonly slug: string }[];
}

const get = (path: string) => fixture.gate.call("GET", path);
async function list(path: string): Promise<List> {
	const answer = await get(path);
	expect(`${path} ${answer.status}`).toBe(`${path} 200`);
	return (await answer.json()) as List;
}

test("models are listed by type, newest first; all is every type, the default is text", async () => {
	expect((await list("/models")).type).toBe("text");
	for (const type of MODEL_TYPES) {
		const answer = await list(`/models?type=${type}`);
		expect([answer.object, answer.type]).toEqual(["list", type]);
		expect(answer.data.every((model) => model.type === type)).toBe(true);
	}
	const all = (await list("/models?type=all")).data;
	expect(new Set(all.map((model) => model.type)).size).toBeGreaterThan(2);
	expect(new Set(all.map((model) => model.id)).size).toBe(all.length);
	const dates = all.map((model) => model.created);
	expect(dates).toEqual([...dates].sort((a, b) => b - a));
});

test("a retired model is neither listed nor shown, and its replacement answers for it", async () => {
	expect((await list("/models")).data.map((model) => model.id)).not.toContain(RETIRED);
	expect((await get(`/models/${RETIRED}`)).status).toBe(404);
	const chat = await fixture.gate.chat({ model: RETIRED, messages: [{ role: "user", content: "x" }] });
	expect(((await chat.json()) as { model: string }).model).toBe(MODEL);
});

test("a model is found by its id, encoded or not, and by nothing else", async () => {
	for (const path of [SLASHED, encodeURIComponent(SLASHED), SLASHED.replace("/", "%2F"), encodeURIComponent(ODD)]) {
		const answer = await get(`/models/${path}`);
		expect(`${path} ${answer.status}`).toBe(`${path} 200`);
		expect([SLASHED, ODD]).toContain(((await answer.json()) as { id: string }).id);
	}
	for (const path of ["org", "org/some-model", `${SLASHED}x`, SLASHED.toUpperCase(), "default/x", "constructor", "__proto__"]) {
		const answer = await get(`/models/${path}`);
		expect(`${path} ${answer.status} ${((await answer.json()) as ErrorAnswer).code}`).toBe(`${path} 404 MODEL_NOT_FOUND`);
	}
});

const QUERIES: readonly (readonly [path: string, status: number])[] = [
	["/models?type=code", 200],
	["/models?type=ALL", 400],
	["/models?type=", 200],
	["/models?type=nothing", 400],
	["/models?other=1", 400],
	["/models/traits?type=tts", 200],
	["/models/traits?type=all", 400],
	["/models/compatibility_mapping?type=asr", 200],
	["/models/compatibility_mapping?type=code", 400],
	["/characters?limit=1", 200],
	["/characters?limit=100&offset=0", 200],
	["/characters?limit=0", 400],
	["/characters?limit=101", 400],
	["/characters?limit=1.5", 400],
	["/characters?limit=abc", 400],
	["/characters?limit=", 200],
	["/characters?offset=-1", 400],
	["/characters?offset=1000000000", 200],
	["/characters?isAdult=true&isPro=false&isWebEnabled=true", 200],
	["/characters?isAdult=yes", 400],
	["/characters?sortBy=featured&sortOrder=asc", 200],
	["/characters?sortBy=age", 400],
	["/characters?sortOrder=up", 400],
	[`/characters?search=${"x".repeat(200)}`, 200],
	[`/characters?search=${"x".repeat(201)}`, 400],
	[`/characters?tags=${Array(20).fill("a").join(",")}`, 200],
	[`/characters?tags=${Array(21).fill("a").join(",")}`, 400],
	["/characters?tags=a&tags=b,c", 200],
	[`/characters?categories=${"x".repeat(101)}`, 400],
	["/characters?__proto__=1&constructor=2", 400],
	["/characters/patient-tutor", 200],
	["/characters/nobody", 404],
	["/characters/patient-tutor/reviews", 200],
	["/characters/patient-tutor/reviews?pageSize=101", 400],
	["/characters/no-such/reviews", 404],
];

test("queries are taken within their ranges; outside them the field is named", async () => {
	for (const [path, status] of QUERIES) {
		const answer = await get(path);
		expect(`${path} ${answer.status}`).toBe(`${path} ${status}`);
		const text = await answer.text();
		const field = /\?(\w+)=/.exec(path)?.[1] ?? "";
		if (status === 400) expect(text).toContain(field);
	}
});

test("characters come in pages, and never with their prompt", async () => {
	const all = (await list("/characters")).data.map((one) => one.slug);
	expect(all.length).toBeGreaterThanOrEqual(3);
	const paged: string[] = [];
	for (let offset = 0; offset < all.length; offset++)
		paged.push(...(await list(`/characters?limit=1&offset=${offset}`)).data.map((one) => one.slug));
	expect(paged).toEqual(all);
	expect((await list(`/characters?offset=${all.length}`)).data).toEqual([]);
	for (const path of ["/characters", `/characters/${all[0]}`]) expect(await (await get(path)).text()).not.toContain('"prompt"');
});

test("errors of the characters are text, those of the models an object", async () => {
	const character = (await (await get("/characters/nobody")).json()) as { error: unknown; code: string };
	expect([typeof character.error, character.code]).toEqual(["string", "CHARACTER_NOT_FOUND"]);
	const model = (await (await get("/models?type=nothing")).json()) as ErrorAnswer;
	expect(model.error).toMatchObject({ param: "type", code: "INVALID_REQUEST", type: "invalid_request_error" });
});

test("lists that need no credential have a limit for each address, which a reload changes", async () => {
	const open = await startChatGateway({ config: { models: { public: true }, limits: { listRequestsPerMinute: 2 } } });
	try {
		const paths = ["/models", "/models/traits", "/models/compatibility_mapping", `/models/${MODEL}`];
		const bare = (path: string) => fetch(`${open.gate.url}/api/v1${path}`);
		const statuses = [];
		for (const path of paths) {
			const answer = await bare(path);
			statuses.push(answer.status);
			expect(answer.headers.get("x-ratelimit-limit-requests")).toBe("2");
			if (answer.status === 429) expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
			await answer.body?.cancel();
		}
		expect(statuses).toEqual([200, 200, 429, 429]);
		// Who has a key is counted by it.
		expect((await open.gate.call("GET", "/models")).status).toBe(200);
		const { config } = open.gate.gateway;
		open.gate.gateway.reload({ ...config, limits: { ...config.limits, listRequestsPerMinute: 3 } });
		expect([(await bare("/models")).status, (await bare("/models")).status]).toEqual([200, 429]);
	} finally {
		await open.stop();
	}
});
