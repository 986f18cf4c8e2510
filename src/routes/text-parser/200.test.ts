import { afterAll, beforeAll, expect, test } from "bun:test";
import { type RunningGateway, startGateway } from "../../../test/support/running-gateway.ts";
import { PRICE, sample, sendFile } from "./testing/parser.ts";

let gate: RunningGateway;
beforeAll(async () => {
	gate = await startGateway({
		creditUsd: "10",
		config: { limits: { failedRequests: 0, augmentRequestsPerMinute: 10_000 } },
		countTokens: (text) => Promise.resolve(text.split(/\s+/).length),
	});
});
afterAll(async () => {
	expect((await gate.audit()).findings).toEqual([]);
	await gate.stop();
});

test("gives the text and its tokens for 0.01 USD", async () => {
	const before = await gate.balance();
	const answer = await sendFile(gate, { name: "letter.docx", bytes: sample("testWORD_various.docx") });
	expect(answer.status).toBe(200);
	expect(answer.headers.get("content-type")).toBe("application/json");
	expect(answer.headers.get("x-ratelimit-limit-requests")).toBe("10000");
	const { text, tokens, ...rest } = (await answer.json()) as { text: string; tokens: number };
	expect(rest).toEqual({});
	expect(text).toStartWith("This is the header text.");
	expect(tokens).toBe(text.split(/\s+/).length);
	expect(before - (await gate.balance())).toBe(PRICE);
	expect((await gate.posts()).at(-1)).toMatchObject({ status: 200, price: PRICE, model: null });
});

test("gives the bare text where response_format is text", async () => {
	const answer = await sendFile(gate, { name: "utf16.txt", bytes: sample("utf16.txt") }, { response_format: "text" });
	expect(answer.status).toBe(200);
	expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
	expect(await answer.text()).toBe("Grüße aus Köln 東京");
});

test("reads each type by its content", async () => {
	const files = {
		"testPDFVarious.pdf": "This is a hyperlink",
		"testPPT_various.pptx": "## Slide 1",
		"testEXCEL-formats.xlsx": "## Format Examples",
		"testRTFVarious.rtf": "This is a footnote",
		"latin1.txt": "Café",
	};
	for (const [name, part] of Object.entries(files)) {
		const answer = await sendFile(gate, { name: "file", bytes: sample(name) });
		expect(answer.status, name).toBe(200);
		expect(((await answer.json()) as { text: string }).text, name).toContain(part);
	}
});

test("lets fields pass that it does not know", async () => {
	const answer = await sendFile(gate, { name: "a.md", bytes: "# Title\n\ntext" }, { purpose: "reading" });
	expect(await answer.json()).toMatchObject({ text: "# Title\n\ntext" });
});

test("answers each of many files at once with its own text, and charges each once", async () => {
	const before = await gate.balance();
	const posts = (await gate.posts()).length;
	let next = 0;
	const client = async () => {
		for (let index = next++; index < 200; index = next++) {
			const words = `file ${index} ${"word ".repeat(index * 20)}end ${index}`;
			const bytes = index % 2 === 0 ? words : `{\\rtf1 ${words}\\par}`;
			const answer = await sendFile(gate, { name: `${index}.bin`, bytes }, { response_format: "text" });
			expect(answer.status).toBe(200);
			expect(await answer.text()).toBe(words);
		}
	};
	await Promise.all(Array.from({ length: 8 }, client));
	expect(before - (await gate.balance())).toBe(200 * PRICE);
	expect((await gate.posts()).length - posts).toBe(200);
});
