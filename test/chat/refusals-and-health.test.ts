/** Refusals by what a request asks for say nothing of an upstream's health; whose matter they are decides what is told. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { type ErrorBody, HELLO, pricedModel } from "../support/chat-bodies.ts";
import { type RunningGateway, startGateway, upstreamEntry } from "../support/running-gateway.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";

let upstream: ScriptedUpstream;
let gate: RunningGateway;
beforeAll(async () => {
	upstream = startScriptedUpstream();
	gate = await startGateway({
		config: {
			upstreams: { scripted: upstreamEntry(upstream.url, { health: { failures: 1, probeEveryMs: 3_600_000 } }) },
			limits: { failedRequests: 0 },
			models: { entries: { priced: pricedModel(["scripted"]) } },
		},
	});
});
beforeEach(() => upstream.reset());
afterAll(async () => {
	expect((await gate.audit()).ok).toBe(true);
	await gate.stop();
	await upstream.stop();
});

const error = (message: string, more: object = {}) => JSON.stringify({ error: { message, ...more } });
/** True where the one fault that it takes has put the upstream out. */
async function isOut(): Promise<boolean> {
	const metrics = await (await fetch(`${gate.url}/metrics`)).text();
	return /turnpike_upstream_state\{[^}]*state="out"[^}]*upstream="scripted"[^}]*\} 1|turnpike_upstream_state\{upstream="scripted",state="out"\} 1/.test(
		metrics,
	);
}

/** Upstream's status and body, the status that the caller gets, and what its text says and does not say. */
const CASES: readonly (readonly [string, number, string, number, RegExp, RegExp])[] = [
	[
		"402 by size",
		402,
		error("You requested up to 65536 tokens, 228 tokens would fit"),
		503,
		/offline; the operator has been notified/,
		/228/,
	],
	[
		"500 for a schema",
		500,
		error("litellm.APIError: APIError - failed to parse grammar: unsupported JSON schema keyword"),
		400,
		/^failed to parse grammar/,
		/litellm|APIError/,
	],
	[
		"500 of a library at a schema",
		500,
		error("The provided JSON schema contains features not supported by xgrammar."),
		400,
		/features not supported by the backend/,
		/xgrammar/,
	],
	[
		"500 of a chat template",
		500,
		error("Conversation roles must alternate user/assistant/user/assistant/... at row 1, column 2"),
		400,
		/^Conversation roles must alternate/,
		/backend failed/,
	],
	[
		"500 for a field",
		500,
		error("AsyncCompletions.create() got an unexpected keyword argument 'user_config'"),
		400,
		/unexpected keyword argument 'user_config'/,
		/^$/,
	],
	["501", 501, error("logprobs are not there"), 400, /logprobs are not there/, /^$/],
	["503 while weights come", 503, error("weights are being fetched"), 503, /not ready yet/, /offline|weights/],
	[
		"503 while a model loads",
		503,
		error("Loading model", { type: "unavailable_error", code: 503 }),
		503,
		/not ready yet/,
		/offline/,
	],
	[
		"503 of a full queue",
		503,
		error("server busy, please try again.  maximum pending requests exceeded"),
		503,
		/not ready yet/,
		/offline/,
	],
	[
		"a model that it does not know, as 400",
		400,
		error("litellm.BadRequestError: Invalid model name passed in model=hf.co/x/y"),
		503,
		/backend/,
		/hf\.co|litellm|Invalid model/,
	],
	[
		"a model that it does not know, as 400 in words",
		400,
		error("The model `scripted` does not exist."),
		503,
		/backend/,
		/scripted/,
	],
	[
		"a model that was not pulled, as 404",
		404,
		error('model "registry.ollama.ai/library/x:7b" not found, try pulling it first'),
		503,
		/backend/,
		/registry|library/,
	],
	[
		"files of the server",
		400,
		error("temperature is bad; see /usr/lib/python3/site-packages/vllm/entrypoints/api.py and registry.ollama.ai/library/x"),
		400,
		/temperature is bad; see \[file\] and \[address\]/,
		/vllm|usr|ollama/,
	],
	[
		"names of exceptions",
		422,
		error("litellm.BadRequestError: OpenAIException - top_p must be in (0, 1]"),
		400,
		/^top_p must be in \(0, 1\]$/,
		/litellm|Exception/,
	],
	[
		"a page of the library",
		400,
		JSON.stringify({
			detail: [
				{ loc: ["body", "n"], msg: "Input should be 1. For further information visit https://errors.pydantic.dev/2.5/v/int" },
			],
		}),
		400,
		/^n: Input should be 1\.$/,
		/pydantic/,
	],
];

test.each(CASES)("%s takes no upstream out", async (_name, status, raw, told, says, hides) => {
	upstream.always({ status, raw });
	for (const stream of [false, true, false, true]) {
		const answer = await gate.chat({ model: "priced", messages: HELLO, stream });
		const { message } = ((await answer.json()) as ErrorBody).error;
		expect([answer.status, message]).toEqual([told, expect.stringMatching(says)]);
		expect(message).not.toMatch(hides);
	}
	expect(await isOut()).toBe(false);
});

test("words about models that stand in the caller's own request are no matter of the operator", async () => {
	upstream.always({ status: 400, raw: error("cannot render: the model x does not exist") });
	const answer = await gate.chat({ model: "priced", messages: [{ role: "user", content: "why: the model x does not exist" }] });
	expect(answer.status).toBe(400);
});

test.each([
	["503 without a word of loading", 503, error("internal")],
	["500", 500, error("CUDA error: device-side assert triggered")],
	["a page for 502", 502, "<html><title>502 Bad Gateway</title></html>"],
])("%s is ill health", async (_name, status, raw) => {
	upstream.next({ status, raw });
	await gate.chat({ model: "priced", messages: HELLO });
	expect(await isOut()).toBe(true);
	expect((await gate.chat({ model: "priced", messages: HELLO })).status).toBe(200);
	expect(await isOut()).toBe(false);
});

test.each(["ollama", "lmstudio"])("n of 2 is refused where the server gives one choice (%s), and 1 is not", async (dialect) => {
	const other = await startGateway({
		config: {
			upstreams: { one: upstreamEntry(upstream.url, { dialect, discover: false }) },
			models: { entries: { priced: pricedModel(["one"]) } },
		},
	});
	try {
		for (const stream of [false, true]) {
			const refused = await other.chat({ model: "priced", messages: HELLO, n: 2, stream });
			const { error } = (await refused.json()) as ErrorBody;
			expect([refused.status, error.param]).toEqual([400, "n"]);
			expect((await other.chat({ model: "priced", messages: HELLO, n: 1, stream })).status).toBe(200);
		}
		expect(upstream.requests).toHaveLength(2);
	} finally {
		await other.stop();
	}
});

test("n of 2 goes to an upstream that gives several, where there is one", async () => {
	const other = await startGateway({
		config: {
			upstreams: {
				one: upstreamEntry(upstream.url, { dialect: "ollama", discover: false }),
				several: upstreamEntry(upstream.url, { discover: false }),
			},
			models: { entries: { priced: pricedModel(["one", "several"]) } },
		},
	});
	try {
		upstream.next({ speech: { content: ["a"], choices: 2 } });
		const answer = await other.chat({ model: "priced", messages: HELLO, n: 2 });
		expect([answer.status, answer.headers.get("x-service-model-router")]).toEqual([200, "several"]);
	} finally {
		await other.stop();
	}
});
