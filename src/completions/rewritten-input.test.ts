import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { atOnce, BODY_BOUNDS, cutJson, LongStrings, topLevelMembers } from "../wire/index.ts";
import { type ChangedText, changedText, RewrittenInput } from "./rewritten-input.ts";
import type { ChatBody } from "./schema.ts";

/** A body as it comes over the wire, its long strings cut in the parsed copy; `pad` stands between its tokens. */
function inputOf(value: object, pad = "") {
	const raw = new TextEncoder().encode(JSON.stringify(value, null, pad));
	const { json, cuts } = atOnce(cutJson(raw, BODY_BOUNDS, { longerThan: 64, keep: 16 }));
	const body = JSON.parse(new TextDecoder().decode(json)) as ChatBody;
	return { body, raw: json, long: cuts.length === 0 ? LongStrings.none : new LongStrings(raw, cuts) };
}

const part = fc.oneof(
	fc.record({ type: fc.constant("text"), text: fc.string({ unit: "grapheme", maxLength: 120 }) }),
	fc.record({ type: fc.constant("file"), file: fc.record({ file_data: fc.string({ maxLength: 120 }) }) }),
);
const message = fc.record({
	role: fc.constantFrom("user", "assistant"),
	content: fc.oneof(fc.string({ unit: "grapheme", maxLength: 120 }), fc.array(part, { minLength: 1, maxLength: 4 })),
});
const text = fc.string({ unit: "grapheme", maxLength: 40 });

const written = (text: string): ChangedText => ({ text, json: [Buffer.from(JSON.stringify(text).slice(1, -1))] });

interface Written {
	readonly model: string;
	readonly messages: { readonly role: string; readonly content: string | object[] }[];
}

describe("messages that are changed", () => {
	test("say the same as bytes and parsed, and all else stays byte for byte", () => {
		fc.assert(
			fc.property(
				fc.array(message, { minLength: 1, maxLength: 5 }),
				text,
				fc.boolean(),
				fc.constantFrom("", "\t"),
				(messages, said, isBefore, pad) => {
					const value = { model: "m", messages, other: "x".repeat(100), messages2: [1.0] };
					const input = inputOf(value, pad);
					const latest = messages.findLastIndex(({ role }) => role === "user");
					const texts = new Map<number, Map<number, ChangedText>>();
					for (const [index, { role, content }] of messages.entries())
						if (role === "user" && Array.isArray(content))
							for (const [place, { type }] of content.entries())
								if (type === "file")
									texts.set(index, (texts.get(index) ?? new Map<number, ChangedText>()).set(place, written(`${said}${place}`)));
					const before = isBefore && latest >= 0 ? { message: latest, text: said } : null;
					const changed = new RewrittenInput(input, topLevelMembers(input.raw), [...texts.keys(), latest]).with({
						texts,
						before,
					});

					const expected = messages.map(({ role, content }, index) => {
						const first = before?.message === index ? said : null;
						if (typeof content === "string") return { role, content: first === null ? content : `${first}\n\n${content}` };
						const parts: object[] = content.map((one, place) => {
							const replaced = texts.get(index)?.get(place);
							return replaced === undefined ? one : { type: "text", text: replaced.text };
						});
						return { role, content: first === null ? parts : [{ type: "text", text: first }, ...parts] };
					});
					const sent = JSON.parse(new TextDecoder().decode(atOnce(changed.long.whole(changed.raw)))) as Written;
					expect(sent).toEqual({ ...value, messages: expected } as object as Written);
					// The parsed copy has the same text, where a cut one may stand in a part of its own.
					const readable = changed.body.messages.map(({ content }) =>
						(typeof content === "string" ? [content] : (content ?? []).map((one) => (one.type === "text" ? one.text : "")))
							.map((one) => changed.long.textOf(one))
							.join("\n\n"),
					);
					expect(readable).toEqual(
						expected.map(({ content }) =>
							typeof content === "string" ? content : content.map((one) => ("text" in one ? String(one.text) : "")).join("\n\n"),
						),
					);
				},
			),
			{ numRuns: 300 },
		);
	});

	test("a text of several slices is written as a short one is", async () => {
		const long = `😀é"\\\n${"\ud800"}`.repeat(100_000);
		const { text, json } = await changedText(long);
		expect(text).toBe(long);
		expect(json.length).toBeGreaterThan(1);
		expect(Buffer.concat(json).equals(written(long).json[0] as Buffer)).toBe(true);
	});

	test("a hint of what to cache stays with a file's text, and the last of two contents counts", () => {
		const cache_control = { type: "ephemeral" };
		const input = inputOf({ messages: [{ role: "user", content: [{ type: "file", file: { file_data: "d" }, cache_control }] }] });
		const texts = new Map([[0, new Map([[0, written("said")]])]]);
		const changed = new RewrittenInput(input, topLevelMembers(input.raw), [0]).with({ texts, before: null });
		expect(JSON.parse(new TextDecoder().decode(changed.raw))).toEqual({
			messages: [{ role: "user", content: [{ type: "text", text: "said", cache_control }] }],
		});
		const raw = new TextEncoder().encode('{"messages":[{"role":"user","content":"first","content":"second"}]}');
		const twice = { raw, body: JSON.parse(new TextDecoder().decode(raw)) as ChatBody, long: LongStrings.none };
		const before = { message: 0, text: 'a "quote"\n' };
		const told = new RewrittenInput(twice, topLevelMembers(raw), [0]).with({ texts: new Map(), before });
		expect(new TextDecoder().decode(told.raw)).toBe('{"messages":[{"role":"user","content":"a \\"quote\\"\\n\\n\\nsecond"}]}');
	});
});
