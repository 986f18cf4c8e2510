import { afterAll, expect, test } from "bun:test";
import { startGateway } from "../../test/support/running-gateway.ts";

const running = await startGateway();
afterAll(() => running.stop());

type Responses = Record<string, { description: string }>;
const document = (await (await running.call("GET", "/openapi.json")).json()) as {
	paths: Record<string, Record<string, { responses: Responses }>>;
};
const codesOf = (method: string, path: string): Record<string, string> =>
	Object.fromEntries(
		Object.entries(document.paths[path]?.[method]?.responses ?? {}).map(([status, { description }]) => [status, description]),
	);

test("the page shows the fields inside of fields, folded", async () => {
	const html = await (await fetch(`${running.url}/docs`)).text();
	const chat = html.slice(html.indexOf("<code>/chat/completions</code>"), html.indexOf("</section>") + 1 || undefined);
	for (const field of ["include_usage", "character_slug", "image_url", "tool_call_id", "json_schema"])
		expect(chat).toContain(`<code>${field}</code>`);
	expect(chat).toMatch(/<summary>role: [^<]*user/);
	expect(html).toContain("<code>availableContextTokens</code>");
	const form = html.slice(html.indexOf("<code>/audio/transcriptions</code>"));
	for (const field of ["file", "response_format", "timestamps"]) expect(form.slice(0, 6_000)).toContain(`<code>${field}</code>`);
	expect(html.match(/<details>/g)?.length).toBe(html.match(/<\/details>/g)?.length);
	expect(html).not.toContain("<script");
});

test("a route names the errors that it can answer, and no others", () => {
	const chat = codesOf("post", "/chat/completions");
	expect(chat["401"]).toBe("AUTHENTICATION_FAILED, X402_INVALID_SIGN_IN");
	expect(chat["402"]).toContain("PAYMENT_REQUIRED");
	expect(chat["422"]).toBe("IMAGE_TOO_LARGE, CONTENT_POLICY_VIOLATION");
	expect(chat["503"]).toContain("MODEL_AT_CAPACITY");
	expect(chat["408"]).toBe("REQUEST_TIMEOUT");
	const models = codesOf("get", "/models");
	expect(Object.keys(models)).toEqual(["200", "400", "401", "403", "429", "500", "503"]);
	expect([models["429"], models["500"], models["503"]]).toEqual(["RATE_LIMIT_EXCEEDED", "UNKNOWN_ERROR", "SERVICE_UNAVAILABLE"]);
	expect(codesOf("get", "/models/{id}")["404"]).toBe("MODEL_NOT_FOUND");
	expect(codesOf("get", "/characters/{slug}")["404"]).toBe("CHARACTER_NOT_FOUND");
	const speech = codesOf("post", "/audio/speech");
	expect(speech["422"]).toBeUndefined();
	expect(speech["400"]).not.toContain("IMAGE");
	expect(codesOf("post", "/audio/transcriptions")["422"]).toBe("ASR_UPSTREAM_VALIDATION_FAILED");
	expect(codesOf("post", "/audio/voices")["400"]).toContain("INVALID_AUDIO_FORMAT");
	for (const item of Object.values(document.paths))
		for (const { responses } of Object.values(item))
			for (const { description } of Object.values(responses)) expect(description).not.toMatch(/PRO_ONLY_MODEL|INACTIVE_KEY/);
});
