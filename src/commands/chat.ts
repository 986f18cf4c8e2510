import { defineCommand } from "citty";
import type { Config } from "../config/index.ts";
import { printError } from "./print.ts";
import { recordedServer } from "./serve/running-server.ts";
import { configOrExit, storeArgs } from "./store-args.ts";
import { forTerminal } from "./terminal-text.ts";

export const chat = defineCommand({
	meta: { name: "chat", description: "Send a prompt to a running server and stream the answer" },
	args: {
		prompt: { type: "positional", description: "The prompt; - reads standard input", required: true },
		model: { type: "string", description: "Model id or trait", default: "default" },
		key: { type: "string", description: "API key (TURNPIKE_KEY or TURNPIKE_ADMIN_KEY)", valueHint: "KEY" },
		url: { type: "string", description: "Address of the server", valueHint: "URL" },
		system: { type: "string", description: "A system message" },
		"max-tokens": { type: "string", description: "Output maximum", valueHint: "N" },
		port: { type: "string", description: "Port of the server on this machine", valueHint: "P" },
		...storeArgs,
	},
	async run({ args }) {
		const { config } = configOrExit({ config: args.config, data: args.data, port: args.port });
		const key = args.key ?? process.env.TURNPIKE_KEY ?? process.env.TURNPIKE_ADMIN_KEY;
		if (!key) return fail("Give an API key: --key, or TURNPIKE_KEY in the environment");
		const base = args.url ?? addressOf(config, args.port);
		const prompt = args.prompt === "-" ? await Bun.stdin.text() : args.prompt;
		const messages = [...(args.system ? [{ role: "system", content: args.system }] : []), { role: "user", content: prompt }];
		const maximum = args["max-tokens"] === undefined ? {} : { max_completion_tokens: Number(args["max-tokens"]) };
		let response: Response;
		try {
			response = await fetch(`${base.replace(/\/+$/, "")}/api/v1/chat/completions`, {
				method: "POST",
				headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
				body: JSON.stringify({ model: args.model, messages, stream: true, stream_options: { include_usage: true }, ...maximum }),
			});
		} catch {
			return fail(`No server answers at ${base}: start it with npm start, or name another server with --url`);
		}
		if (!response.ok || response.body === null) {
			const body = (await response.json().catch(() => null)) as { error?: { message?: string } } | null;
			return fail(`${response.status}: ${body?.error?.message ?? "no answer"}`);
		}
		await printStream(response.body);
	},
});

/** Returns the address of the data folder's running server; if none runs, the address that the configuration would use. */
function addressOf({ data, server }: Config, port: string | undefined): string {
	const noted = port === undefined ? recordedServer(data) : null;
	return noted?.alive ? noted.url : `http://127.0.0.1:${server.port}`;
}

interface Chunk {
	readonly error?: { message: string };
	readonly choices?: readonly { delta?: { content?: string | null; reasoning_content?: string | null } }[];
	readonly usage?: { prompt_tokens: number; completion_tokens: number } | null;
	readonly cost?: { usd: number; diem: number };
}

async function printStream(body: ReadableStream<Uint8Array>): Promise<void> {
	const decoder = new TextDecoder();
	let pending = "";
	for await (const bytes of body) {
		pending += decoder.decode(bytes, { stream: true });
		const lines = pending.split("\n");
		pending = lines.pop() ?? "";
		for (const line of lines)
			if (line.startsWith("data: ") && line !== "data: [DONE]") printChunk(JSON.parse(line.slice(6)) as Chunk);
	}
}

function printChunk(chunk: Chunk): void {
	if (chunk.error) fail(`\n${chunk.error.message}`);
	const text = chunk.choices?.[0]?.delta?.content ?? "";
	process.stdout.write(process.stdout.isTTY ? forTerminal(text, "lines") : text);
	if (chunk.usage) {
		const cost = chunk.cost ? `, ${(chunk.cost.usd + chunk.cost.diem).toFixed(9)} USD` : "";
		process.stdout.write("\n");
		printError(`(${chunk.usage.prompt_tokens} + ${chunk.usage.completion_tokens} tokens${cost})`);
	}
}

function fail(text: string): void {
	printError(text);
	process.exitCode = 1;
}
