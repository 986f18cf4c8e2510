import { expect, test } from "bun:test";
import { Writable } from "node:stream";
import { type ProgressDisplay, showProgress } from "./progress-bar.ts";

/** A stream that keeps what is written, as a terminal or not. */
function capture(isTTY: boolean): { out: NodeJS.WriteStream; text(): string } {
	let text = "";
	const stream = new Writable({
		write(chunk, _encoding, done) {
			text += chunk;
			done();
		},
	});
	return { out: Object.assign(stream, { isTTY, columns: 120 }) as unknown as NodeJS.WriteStream, text: () => text };
}

function download(display: ProgressDisplay): void {
	for (let receivedBytes = 0; receivedBytes <= 98_000_000; receivedBytes += 490_000)
		display.update({ state: "fetching", receivedBytes, totalBytes: 98_000_000 });
	display.end();
}

test("a pipe gets a plain line for each tenth", () => {
	const { out, text } = capture(false);
	download(showProgress("model", out));
	const lines = text().trim().split("\n");
	expect(lines.length).toBe(11);
	expect(lines[0]).toBe("model: 0 of 98 MB");
	expect(lines.at(-1)).toBe("model: 98 of 98 MB");
	expect(text()).not.toContain("\u001b");
});

test("a terminal gets a bar that ends full", () => {
	const { out, text } = capture(true);
	download(showProgress("model", out));
	expect(text()).toContain("model [");
	expect(text()).toContain("100% 98/98 MB");
});

test("an end before the first byte writes nothing", () => {
	const { out, text } = capture(true);
	showProgress("model", out).end();
	expect(text()).toBe("");
});
