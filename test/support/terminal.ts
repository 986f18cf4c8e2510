import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");

/** A command of the command line on a terminal of its own, 80 columns by 24 rows. */
export interface OnTerminal {
	readonly exited: Promise<number>;
	/** All that was written to it. */
	screen(): string;
	/** Types keys as soon as `prompt` was written behind what was awaited before. */
	type(prompt: string, keys: string): Promise<void>;
	/** Types a line. */
	answer(prompt: string, line: string): Promise<void>;
	/** Waits until `text` was written behind what was awaited before. */
	shows(text: string): Promise<void>;
	kill(): void;
}

export function onTerminal(args: readonly string[], env: Readonly<Record<string, string>> = {}): OnTerminal {
	let written = "";
	let seen = 0;
	let heard: (() => void) | null = null;
	const decoder = new TextDecoder();
	const clean = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("TURNPIKE_")));
	const child = Bun.spawn([process.execPath, join(ROOT, "src/main.ts"), ...args], {
		cwd: ROOT,
		env: { ...clean, TERM: "xterm", ...env },
		terminal: {
			cols: 80,
			rows: 24,
			data(_, bytes) {
				written += decoder.decode(bytes, { stream: true });
				heard?.();
			},
		},
	});
	let ended = false;
	const exited = child.exited.then((code) => {
		ended = true;
		heard?.();
		return code;
	});
	const shows = async (text: string) => {
		for (;;) {
			const at = written.indexOf(text, seen);
			if (at >= 0) {
				seen = at + text.length;
				return;
			}
			if (ended) throw new Error(`it ended without "${text}": ${written}`);
			await new Promise<void>((resolve) => {
				heard = resolve;
			});
		}
	};
	const type = async (prompt: string, keys: string) => {
		await shows(prompt);
		child.terminal?.write(keys);
	};
	return {
		exited,
		screen: () => written,
		type,
		answer: (prompt, line) => type(prompt, `${line}\r`),
		shows,
		kill: () => child.kill("SIGKILL"),
	};
}
