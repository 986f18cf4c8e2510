import { defineCommand } from "citty";
import type { Config } from "../../config/index.ts";
import { EXIT_USAGE } from "../exit-codes.ts";
import { printError } from "../print.ts";
import { recordedServer } from "../serve/running-server.ts";
import { configOrExit, storeArgs } from "../store-args.ts";
import { Scrape, Span } from "./scrape.ts";
import { type Size, viewOf } from "./view.ts";

const DEFAULT_SECONDS = "2";
const ANSWER_MS = 5_000;
/** The size if the terminal does not report one. */
const DEFAULT_SIZE: Size = { columns: 80, rows: 24 };
/** q, and what a terminal in raw mode sends for Ctrl-C and Ctrl-D. */
const QUIT_KEYS = ["q", "Q", "\x03", "\x04"];
const SHOW_SCREEN = "\x1b[?1049h\x1b[?25l";
const LEAVE_SCREEN = "\x1b[?25h\x1b[?1049l";

export const top = defineCommand({
	meta: {
		name: "top",
		description: "Watch a running node: requests, spend, times, upstreams, chains, engines, books; q quits",
	},
	args: {
		url: { type: "string", description: "Address of the server; default: the server of the data folder", valueHint: "URL" },
		interval: { type: "string", description: "Seconds between updates", default: DEFAULT_SECONDS, valueHint: "S" },
		once: { type: "boolean", description: "Print once and exit, as without a terminal" },
		...storeArgs,
	},
	async run({ args }) {
		const { config } = configOrExit({ config: args.config, data: args.data });
		const intervalMs = Number(args.interval) * 1_000;
		if (!(intervalMs >= 100 && intervalMs <= 3_600_000))
			return fail("--interval: expected seconds, from 0.1 to 3600", EXIT_USAGE);
		const address = (args.url ?? addressOf(config)).replace(/\/+$/, "");
		const scrapeOnce = () => scrape(address, config.metrics.token);
		if (args.once === true || process.stdout.isTTY !== true) {
			const first = await scrapeOnce();
			if (typeof first === "string") return fail(first);
			// A pipe does not scroll, so everything is printed.
			const size = { columns: DEFAULT_SIZE.columns, rows: Number.MAX_SAFE_INTEGER };
			process.stdout.write(`${viewOf(new Span(first, null), address, size).join("\n").trimEnd()}\n`);
			return;
		}
		await watch(address, scrapeOnce, intervalMs);
	},
});

function addressOf({ data, server }: Config): string {
	const noted = recordedServer(data);
	return noted?.alive ? noted.url : `http://127.0.0.1:${server.port}`;
}

/** Returns one scrape, or the reason why it failed. */
async function scrape(address: string, token: string | undefined): Promise<Scrape | string> {
	let response: Response;
	let text: string;
	try {
		const headers = token === undefined ? undefined : { Authorization: `Bearer ${token}` };
		response = await fetch(`${address}/metrics`, { ...(headers ? { headers } : {}), signal: AbortSignal.timeout(ANSWER_MS) });
		text = await response.text();
	} catch {
		return `No server answers at ${address}: start it with npm start, or name another server with --url`;
	}
	if (response.status === 403) return `${address} requires metrics.token: name its configuration with --config`;
	if (!response.ok) return `${address}/metrics answers ${response.status}`;
	const now = new Scrape(text, Date.now());
	return now.sum("turnpike_build_info") === null
		? `${address} is not a Turnpike server: its /metrics lacks turnpike_build_info`
		: now;
}

/** Redraws until q, Ctrl-C or SIGTERM. */
async function watch(address: string, scrapeOnce: () => Promise<Scrape | string>, intervalMs: number): Promise<void> {
	const { stdin, stdout } = process;
	let stopped = false;
	let wake: () => void = () => {};
	const end = () => {
		stopped = true;
		wake();
	};
	let lines: string[] = [];
	const draw = () => {
		const { columns, rows } = sizeOf(stdout);
		const shown = lines.slice(0, rows).map((line) => `${line.slice(0, columns)}\x1b[K`);
		stdout.write(`\x1b[H${shown.join("\r\n")}\x1b[J`);
	};
	const pressed = (keys: Buffer) => {
		if ([...keys.toString("latin1")].some((key) => QUIT_KEYS.includes(key))) end();
	};
	stdin.setRawMode?.(true);
	stdin.on("data", pressed);
	stdout.on("resize", draw);
	process.once("SIGTERM", end);
	process.once("SIGINT", end);
	stdout.write(SHOW_SCREEN);
	try {
		let previous: Scrape | null = null;
		while (!stopped) {
			const now = await scrapeOnce();
			if (stopped) break;
			if (typeof now === "string") lines = ["", now, "", "Retrying; q quits."];
			else {
				lines = viewOf(new Span(now, previous), address, sizeOf(stdout));
				previous = now;
			}
			draw();
			await new Promise<void>((resolve) => {
				const timer = setTimeout(resolve, intervalMs);
				wake = () => {
					clearTimeout(timer);
					resolve();
				};
			});
		}
	} finally {
		stdout.write(LEAVE_SCREEN);
		stdout.off("resize", draw);
		stdin.off("data", pressed);
		stdin.setRawMode?.(false);
		stdin.pause();
	}
}

const sizeOf = ({ columns, rows }: { columns?: number; rows?: number }): Size => ({
	columns: columns || DEFAULT_SIZE.columns,
	rows: rows || DEFAULT_SIZE.rows,
});

function fail(text: string, code = 1): void {
	printError(text);
	process.exitCode = code;
}
