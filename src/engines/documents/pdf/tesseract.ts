import { spawn } from "node:child_process";
import { killAtLimit } from "../../process-tree.ts";
import type { ReadScan, ScannedPage } from "./scan-reader.ts";

/** Processor time of one page. */
const PAGE_LIMIT_MS = 20_000;
const MAX_TEXT_BYTES = 4 * 2 ** 20;

/** Reads scanned pages by Tesseract in its installed languages; the image is sent to its standard input. */
export function tesseractReader(program: string): ReadScan {
	let languages: Promise<string> | null = null;
	return async (page) => {
		languages ??= installedLanguages(program);
		return (await run(program, ["-", "-", "-l", await languages], portableGraymap(page))).trim();
	};
}

/** Returns all installed languages, without those that only detect orientation. */
async function installedLanguages(program: string): Promise<string> {
	const listed = await run(program, ["--list-langs"], null);
	const names = listed
		.split("\n")
		.slice(1)
		.flatMap((line) => (/^[a-z]{3}(_\w+)?$/.test(line.trim()) ? [line.trim()] : []));
	const languages = names.filter((name) => name !== "osd");
	return languages.length === 0 ? "eng" : languages.join("+");
}

function portableGraymap({ width, height, gray }: ScannedPage): Uint8Array {
	return Buffer.concat([Buffer.from(`P5 ${width} ${height} 255\n`), gray]);
}

/** Returns the program's output; "" if it fails, because a page without text is no fault. */
function run(program: string, args: readonly string[], input: Uint8Array | null): Promise<string> {
	return new Promise((resolve) => {
		const child = spawn(program, args, {
			stdio: ["pipe", "pipe", "ignore"],
			env: { ...process.env, OMP_THREAD_LIMIT: "1" },
		});
		const unwatch = killAtLimit(child, PAGE_LIMIT_MS);
		const chunks: Buffer[] = [];
		let bytes = 0;
		child.stdout.on("data", (chunk: Buffer) => {
			bytes += chunk.length;
			if (bytes <= MAX_TEXT_BYTES) chunks.push(chunk);
		});
		const end = (text: string) => {
			unwatch();
			resolve(text);
		};
		child.stdin.on("error", () => {});
		child.once("error", () => end(""));
		child.once("close", (code) => end(code === 0 ? Buffer.concat(chunks).toString("utf8") : ""));
		child.stdin.end(input ?? undefined);
	});
}
