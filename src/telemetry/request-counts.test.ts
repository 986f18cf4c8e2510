import { expect, test } from "bun:test";
import { Histogram } from "./histogram.ts";
import { OTHER_MODEL, RequestCounts } from "./request-counts.ts";

test("a value belongs to the first bound that is not below it, and to none where it is above all", () => {
	const histogram = new Histogram([1, 10]);
	for (const value of [0, 1, 1.5, 10, 11]) histogram.add(value);
	expect([...histogram.counts]).toEqual([2, 2, 1]);
	expect([histogram.count, histogram.sum]).toEqual([5, 23.5]);
});

test("answers are told apart by endpoint, model and class of status, and a caller that left is a class of its own", () => {
	const all = new RequestCounts();
	const chat = all.begin("chat");
	for (const status of [200, 200, 404, 499, 503]) all.answered(chat, "small", status, 0.01);
	all.answered(all.begin("models"), null, 200, 0.01);
	expect(Object.fromEntries(chat.models.get("small")?.answers ?? [])).toEqual({ "2xx": 2, "4xx": 1, "499": 1, "5xx": 1 });
	expect([...(all.endpoints.get("models")?.models.keys() ?? [])]).toEqual([""]);
});

test("running requests are those that have begun and not ended", () => {
	const all = new RequestCounts();
	const [first] = [all.begin("chat"), all.begin("chat")];
	expect(first.running).toBe(2);
	all.ended(first, 0.5);
	expect([first.running, first.whole.count]).toEqual([1, 1]);
});

test("money and tokens are summed by model", () => {
	const all = new RequestCounts();
	const chat = all.begin("chat");
	for (let index = 0; index < 2; index++)
		all.posted(chat, "small", { usd: 5, diem: 3, owed: 2, overrun: 1 }, { promptTokens: 10, completionTokens: 4 });
	all.posted(chat, "small", { usd: 1, diem: 0, owed: 0, overrun: 0 }, null);
	expect(chat.models.get("small")).toMatchObject({
		usdNano: 11,
		diemNano: 6,
		owedNano: 4,
		overrunNano: 2,
		promptTokens: 20,
		completionTokens: 8,
	});
});

test("names past the bound share one series", () => {
	const all = new RequestCounts();
	const chat = all.begin("chat");
	for (let index = 0; index < 1_200; index++) all.answered(chat, `model-${index}`, 200, 0.01);
	expect(chat.models.size).toBe(1_001);
	expect(chat.models.get(OTHER_MODEL)?.answers.get("2xx")).toBe(200);
});
