import { expect, test } from "bun:test";
import { formBody } from "./form-body.ts";
import { formBoundary, parseForm, textOf } from "./multipart.ts";

test("what is written is read as it was, by the runtime and by our own reader", async () => {
	const file = Uint8Array.from({ length: 700 }, (_, index) => index % 256);
	const { type, bytes } = formBody([
		{ name: "prompt", value: "über\r\n--form- \ud83d\ude00" },
		{ name: "image[]", value: file, filename: "0.png", type: "image/png" },
		{ name: "image[]", value: new Uint8Array(0), filename: "1.png", type: "image/png" },
	]);
	const read = parseForm(bytes, formBoundary(type) ?? "");
	expect(read.map(({ name, filename, type: kind }) => [name, filename, kind])).toEqual([
		["prompt", null, "text/plain"],
		["image[]", "0.png", "image/png"],
		["image[]", "1.png", "image/png"],
	]);
	expect(textOf(read[0]?.bytes ?? file)).toBe("über\r\n--form- \ud83d\ude00");
	expect(new Uint8Array(read[1]?.bytes ?? [])).toEqual(file);
	const body = bytes as Uint8Array<ArrayBuffer>;
	const form = await new Response(body, { headers: { "content-type": type } }).formData();
	const [first, second] = form.getAll("image[]") as File[];
	expect(await first?.bytes()).toEqual(file);
	expect(second?.size).toBe(0);
});
