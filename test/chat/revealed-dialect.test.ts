/** A server under the dialect `generic` is spoken to as its own list reveals it, on any port. */
import { afterAll, expect, test } from "bun:test";
import { completionOf, PLAIN_SPEECH } from "../support/chat-answers.ts";
import { type ErrorBody, HELLO, pricedModel } from "../support/chat-bodies.ts";
import { type RunningGateway, startGateway, upstreamEntry } from "../support/running-gateway.ts";
import { until } from "../support/until.ts";

let owner = "";
const server = Bun.serve({
	port: 0,
	fetch(request) {
		const { pathname } = new URL(request.url);
		if (pathname === "/v1/models")
			return Response.json({ object: "list", data: [{ id: "theirs", object: "model", owned_by: owner }] });
		if (pathname !== "/v1/chat/completions") return new Response(null, { status: 404 });
		return Response.json(completionOf(PLAIN_SPEECH, "theirs"));
	},
});
afterAll(() => server.stop(true));

async function gatewayTo(owned: string, dialect?: string): Promise<RunningGateway> {
	owner = owned;
	const upstreams = {
		local: upstreamEntry(`http://127.0.0.1:${server.port}/v1`, { discover: true, ...(dialect && { dialect }) }),
	};
	const entry = { ...pricedModel(["local"]), upstreams: [{ upstream: "local", model: "theirs" }] };
	const gate = await startGateway({ config: { upstreams, models: { entries: { mapped: entry } } } });
	await until(async () => (await (await gate.call("GET", "/models/mapped")).text()).includes("mapped"));
	return gate;
}

test.each([
	["library", undefined, 400],
	["organization_owner", undefined, 400],
	["vllm", undefined, 200],
	["nobody", undefined, 200],
	["library", "vllm", 200],
])("n of 2 at a server whose models belong to %s, configured as %p: %d", async (owned, dialect, status) => {
	const gate = await gatewayTo(owned, dialect);
	try {
		await until(async () => (await gate.chat({ model: "mapped", messages: HELLO, n: 2 })).status === status);
		const answer = await gate.chat({ model: "mapped", messages: HELLO, n: 2 });
		expect(answer.status).toBe(status);
		if (status === 400) expect(((await answer.json()) as ErrorBody).error.param).toBe("n");
		expect((await gate.chat({ model: "mapped", messages: HELLO })).status).toBe(200);
	} finally {
		await gate.stop();
	}
});
