import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { RunningGateway } from "../../../../test/support/running-gateway.ts";

const SAMPLES = join(import.meta.dir, "../../../../test/samples");
/** 0.01 USD in nano. */
export const PRICE = 10_000_000;

export const sample = (name: string): Uint8Array<ArrayBuffer> => new Uint8Array(readFileSync(join(SAMPLES, name)));

export interface SentFile {
	readonly name: string;
	readonly bytes: Uint8Array<ArrayBuffer> | string;
}

/** Sends a file as a form. */
export function sendFile(
	gate: RunningGateway,
	file: SentFile | null,
	fields: Readonly<Record<string, string>> = {},
	key = gate.key,
): Promise<Response> {
	const form = new FormData();
	for (const [name, value] of Object.entries(fields)) form.set(name, value);
	if (file !== null) form.set("file", new File([file.bytes], file.name));
	return fetch(`${gate.url}/api/v1/augment/text-parser`, {
		method: "POST",
		body: form,
		headers: { authorization: `Bearer ${key}` },
	});
}
