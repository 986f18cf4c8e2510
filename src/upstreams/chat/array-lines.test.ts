import { expect, test } from "bun:test";
import { ArrayLines } from "./array-lines.ts";

const ELEMENTS = [{ text: '[{"a\\" , ]}\\', list: [1, [2], {}] }, {}, { é: "\n" }];

test.each([0, 1, "\t"])("elements come one a line, wherever the bytes are cut, at an indent of %p", (indent) => {
	const bytes = Buffer.from(` \r\n${JSON.stringify(ELEMENTS, null, indent)}\n`);
	for (let cut = 0; cut <= bytes.length; cut++) {
		const lines = new ArrayLines();
		const text = Buffer.concat([lines.take(bytes.subarray(0, cut)), lines.take(bytes.subarray(cut))]).toString();
		const objects = text.split("\n").filter((line) => line !== "");
		expect(objects.map((line) => JSON.parse(line) as object)).toEqual(ELEMENTS);
	}
});
