/** A server of OpenAI's embeddings protocol, from its public reference, that does as it is told. */
export interface EmbeddingBehaviour {
	/** The form of its vectors; default: what is asked for. */
	readonly sends?: "float" | "base64";
	/** The vectors come in the other order, each with its index. */
	readonly reversed?: boolean;
	/** In place of its own count; null: none. */
	readonly usage?: unknown;
	readonly status?: number;
	/** A body to send as it is. */
	readonly raw?: string;
	readonly hang?: boolean;
}

interface Received {
	readonly path: string;
	readonly key: string | null;
	readonly body: {
		readonly model: string;
		readonly input: string | string[];
		readonly encoding_format: string;
		readonly dimensions?: number;
	};
}

/** Vectors of four numbers, the first of them the length of the text. */
export function startScriptedEmbeddings() {
	let behaviour: EmbeddingBehaviour = {};
	let last: Received | null = null;
	const server = Bun.serve({
		port: 0,
		hostname: "127.0.0.1",
		idleTimeout: 0,
		async fetch(request) {
			const { pathname } = new URL(request.url);
			if (pathname === "/v1/models") return Response.json({ object: "list", data: [] });
			const body = (await request.json()) as Received["body"];
			last = { path: pathname, key: request.headers.get("authorization"), body };
			const { sends = body.encoding_format, reversed, usage, status = 200, raw, hang } = behaviour;
			if (hang === true) await new Promise((resolve) => request.signal.addEventListener("abort", resolve, { once: true }));
			if (raw !== undefined) return new Response(raw, { status, headers: { "content-type": "application/json" } });
			const texts = [body.input].flat();
			const data = texts.map((text, index) => {
				const numbers = [text.length, 0.25, -0.5, 0.125].slice(0, body.dimensions);
				const packed = Buffer.from(Float32Array.from(numbers).buffer).toString("base64");
				return { object: "embedding", index, embedding: sends === "base64" ? packed : numbers };
			});
			const words = texts.reduce((sum, text) => sum + text.split(" ").length, 0);
			return Response.json({
				object: "list",
				model: body.model,
				data: reversed === true ? data.reverse() : data,
				...(usage === null ? {} : { usage: usage ?? { prompt_tokens: words, total_tokens: words } }),
			});
		},
	});
	return {
		url: `http://127.0.0.1:${server.port}/v1`,
		received: () => last,
		always(next: EmbeddingBehaviour) {
			behaviour = next;
		},
		reset() {
			behaviour = {};
			last = null;
		},
		stop: () => server.stop(true),
	};
}
