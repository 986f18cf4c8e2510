import { expect, test } from "bun:test";
import type { TextCapabilities } from "../catalog/types.ts";
import { firstMessageWithImages, withoutImagesBefore } from "./image-messages.ts";
import type { ChatMessage } from "./schema.ts";

const image: ChatMessage = { role: "user", content: [{ type: "image_url", image_url: { url: "https://i.example/1.png" } }] };
const said: ChatMessage = { role: "user", content: "hello" };
const model = (part: Partial<TextCapabilities>) => ({ capabilities: part as TextCapabilities });

test("only a model that is said to take one image loses any", () => {
	const one = model({ supportsMultipleImages: false, supportsVision: true });
	expect(firstMessageWithImages([image, said, image, said], one)).toBe(2);
	expect(firstMessageWithImages([said], one)).toBe(0);
	expect(firstMessageWithImages([image, image], model({ supportsMultipleImages: null }))).toBe(0);
	expect(firstMessageWithImages([image, image], model({ supportsMultipleImages: false, supportsVision: false }))).toBe(0);
});

test("what stays is byte for byte as it came", () => {
	const text = `[ {"content": [ {"type":"text", "text":"a\\u00e9"} , {"type":"\\u0069mage_url","image_url":{"url":"x"}} ], "role":"user" },
 {"role":"user","content":[{"type":"image_url"}]} , {"role":"user","content":[{"type":"image_url"}]}]`;
	const bytes = new TextEncoder().encode(`{"messages":${text}}`);
	expect(withoutImagesBefore(bytes, { start: 12, end: bytes.length - 1 }, 2)).toBe(
		`[ {"content": [{"type":"text", "text":"a\\u00e9"}], "role":"user" },
 {"role":"user","content":""} , {"role":"user","content":[{"type":"image_url"}]}]`,
	);
});
