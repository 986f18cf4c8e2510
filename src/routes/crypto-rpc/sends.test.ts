import { describe, expect, test } from "bun:test";
import { itemOf } from "../../../test/support/rpc-calls.ts";
import { failed, result } from "../../../test/support/scripted-rpc-upstreams.ts";
import { findSends, sendEnd } from "./sends.ts";

const LIE = `0x${"ab".repeat(32)}`;
/** A transaction of EIP-1559, and one of a type that only its chain knows. */
const KNOWN = "0x02f86b0180843b9aca00843b9aca0082520894d8da6bf26964af9d7eed9e03e53415d37aa9604501";
const UNKNOWN = "0x71f8";

async function endOf(raw: string, outcome = result(LIE), method = "eth_sendRawTransaction") {
	const [send] = await findSends([itemOf(method, [raw])]);
	if (send === undefined) throw new Error("no send was found");
	return { computed: send.hashes?.txHash ?? null, end: sendEnd(send, outcome) };
}

describe("what the audit is told of a send's end", () => {
	test("a node's word does not replace a hash that follows from what was sent", async () => {
		const { computed, end } = await endOf(KNOWN);
		expect(computed).toMatch(/^0x[0-9a-f]{64}$/);
		expect(end).toEqual({ outcome: "accepted", txHash: null });
	});

	test("where none follows, the node's word is the hash, and what is none is no hash", async () => {
		expect(await endOf(UNKNOWN)).toEqual({ computed: null, end: { outcome: "accepted", txHash: LIE } });
		expect((await endOf("{}", result(LIE), "eth_sendUserOperation")).end.txHash).toBe(LIE);
		for (const odd of [null, 1, {}, ["0x1"], "0x", "0xzz", `${LIE}00`, "x".repeat(5_000)])
			expect((await endOf(UNKNOWN, result(odd))).end).toEqual({ outcome: "accepted", txHash: null });
	});

	test("an error is told by its code, and no answer as unknown", async () => {
		expect((await endOf(UNKNOWN, failed(-32_000))).end).toEqual({ outcome: "-32000", txHash: null });
		expect((await endOf(UNKNOWN, { kind: "missing" })).end).toEqual({ outcome: "unknown", txHash: null });
	});
});
