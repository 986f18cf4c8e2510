import { expect, test } from "bun:test";
import { requestId, samplePost, sampleTouch } from "../../journal/testing/sample-records.ts";
import { nano } from "../../ledger/nano.ts";
import { group } from "../testing/posting-contract.ts";
import type { WorkMessage } from "../thread-protocol.ts";
import { callsWith, type LeaseCall, seqForAll } from "./lease-calls.ts";

const acquire = (accountId: string, seq: number): LeaseCall => ({
	type: "call",
	id: 1,
	seq,
	call: { name: "acquire", arguments: { accountId, day: 1, needNano: nano(1) } },
});
const giveBack = (accountId: string, seq: number): LeaseCall => ({
	type: "call",
	id: 1,
	seq,
	call: { name: "giveBack", arguments: { accountId, retained: [] } },
});
const accountsOf = (calls: readonly LeaseCall[]) => calls.map(({ call }) => call.arguments.accountId);
let posts = 0;
const post = (accountId: string) => samplePost(requestId(++posts), accountId);

test("calls about leases of other accounts go together, past what only applies the journal", () => {
	const waiting: WorkMessage[] = [acquire("b", 3), { type: "apply", seq: 4 }, giveBack("c", 5)];
	expect(accountsOf(callsWith(acquire("a", 1), waiting))).toEqual(["a", "b", "c"]);
});

test("a second call about an account, and any other call, waits with all behind it", () => {
	expect(accountsOf(callsWith(acquire("a", 1), [acquire("b", 1), giveBack("a", 1), acquire("c", 1)]))).toEqual(["a", "b"]);
	const load: WorkMessage = { type: "call", id: 2, seq: 1, call: { name: "loadKey", arguments: { hash: "h", day: 1 } } };
	expect(accountsOf(callsWith(acquire("a", 1), [load, acquire("b", 1)]))).toEqual(["a"]);
	expect(accountsOf(callsWith(acquire("a", 1), [{ type: "renew", seq: 1 }, acquire("b", 1)]))).toEqual(["a"]);
});

test("no more go together than one short transaction takes", () => {
	const many = Array.from({ length: 1_000 }, (_, index) => acquire(`other ${index}`, 1));
	expect(callsWith(acquire("a", 1), many).length).toBe(256);
});

test("the journal is shipped for all of them where none has a post of after its call", () => {
	const calls = [acquire("a", 1), acquire("b", 3), acquire("c", 5)];
	// Posts from before the calls, posts of others, and records that are no posts.
	const groups = [
		group(2, post("b"), post("x")),
		group(3, post("c"), sampleTouch("a", 1)),
		group(4, post("c")),
		group(5, post("x")),
	];
	expect(seqForAll(calls, groups)).toBe(5);
});

test("a post of after a call keeps those behind it out: no answer holds a later post of its account", () => {
	const calls = [acquire("a", 1), acquire("b", 3), acquire("c", 5)];
	expect(seqForAll(calls, [group(4, post("a"))])).toBe(3);
	expect(seqForAll(calls, [group(2, post("a")), group(3, post("x"))])).toBe(1);
	expect(seqForAll(calls, [group(4, post("x"), post("b")), group(5, post("c"))])).toBe(3);
});

test("what cannot be read as a record keeps nothing out", () => {
	expect(seqForAll([acquire("a", 1), acquire("b", 2)], [group(2, "null", '{"t":"post","accountId":', "{}")])).toBe(2);
});
