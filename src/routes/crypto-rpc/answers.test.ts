import { expect, test } from "bun:test";
import { Splice } from "../../wire/index.ts";
import { batchAnswer, singleAnswer, streamFrame } from "./answers.ts";
import { readRequestBody } from "./request-body.ts";

const envelopeOf = (body: string) => readRequestBody(Buffer.from(body));
const result = (text: string) => ({ kind: "result", value: Buffer.from(text) }) as const;
const error = (text: string) => ({ kind: "error", value: Buffer.from(text), code: -32602 }) as const;
const textOf = (bytes: Uint8Array | Splice) => new TextDecoder().decode(bytes instanceof Splice ? bytes.bytes() : bytes);
const noSend = () => false;

test("a single answer has the caller's id and the upstream's value byte for byte", () => {
	const answer = (id: string) => textOf(singleAnswer(envelopeOf(`{"method":"a"${id}}`), result('{ "x" :1.0}')));
	for (const id of ['"\\u0061é"', "12345678901234567890.50", "null", "-0"])
		expect(answer(`,"id": ${id} `)).toBe(`{"jsonrpc":"2.0","id":${id},"result":{ "x" :1.0}}`);
	expect(answer("")).toBe('{"jsonrpc":"2.0","id":null,"result":{ "x" :1.0}}');
	expect(textOf(singleAnswer(envelopeOf('{"id":1,"method":"a"}'), error('{"code":3}')))).toBe(
		'{"jsonrpc":"2.0","id":1,"error":{"code":3}}',
	);
});

test("a streamed answer has the same bytes around its value", () => {
	const envelope = envelopeOf('{"id":"é","method":"a"}');
	for (const [kind, whole] of [
		["result-stream", result("[1]")],
		["error-stream", error("[1]")],
	] as const) {
		const { head, tail } = streamFrame(envelope, kind);
		expect(`${textOf(head)}[1]${textOf(tail)}`).toBe(textOf(singleAnswer(envelope, whole)));
	}
});

test("a batch is answered in its order by position, duplicate ids or not", () => {
	const envelope = envelopeOf('[{"id":1,"method":"a"},{"id":1,"method":"b"},{"method":"c","id":"x"}]');
	expect(textOf(batchAnswer(envelope, [result("1"), error('{"code":2}'), result("null")], noSend))).toBe(
		'[{"jsonrpc":"2.0","id":1,"result":1},{"jsonrpc":"2.0","id":1,"error":{"code":2}},{"jsonrpc":"2.0","id":"x","result":null}]',
	);
});

test("an item without an answer gets an error, and a send is told that its outcome is not known", () => {
	const envelope = envelopeOf('[{"id":7,"method":"a"},{"id":8,"method":"b"}]');
	const answer = JSON.parse(textOf(batchAnswer(envelope, [{ kind: "missing" }], (index) => index === 1)));
	expect(answer).toMatchObject([
		{ jsonrpc: "2.0", id: 7, error: { code: -32603 } },
		{ jsonrpc: "2.0", id: 8, error: { code: -32603 } },
	]);
	expect(answer[1].error.message).toStartWith("Outcome unknown");
});
