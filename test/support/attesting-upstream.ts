/** A model server in a stand-in for an enclave: attests, opens what is sealed for its key, seals what it says, signs. */
import { randomUUID } from "node:crypto";
import { createKeys, isPacket, type Keys, open, seal } from "./sealed-crypto.ts";

export interface AttestingBehaviour {
	/** In place of an answer to a chat. */
	readonly status?: number;
	/** In place of a report or a signature. */
	readonly reportStatus?: number;
	readonly signatureStatus?: number;
	/** Members of the report that are others than they should be. */
	readonly report?: Readonly<Record<string, unknown>>;
	readonly withoutUsage?: boolean;
	/** Pieces after which the stream is held open until the other side leaves, or cut. */
	readonly hangAfter?: number;
	readonly cutAfter?: number;
	/** A cut waits for it. */
	readonly beforeCut?: Promise<unknown>;
}

export interface Heard {
	readonly text: string;
	readonly headers: Headers;
	readonly aborted: Promise<void>;
	/** Contents of the messages, opened where they were sealed. */
	readonly contents: readonly string[];
}

export interface AttestingUpstream {
	readonly url: string;
	readonly keys: Keys;
	readonly heard: Heard[];
	/** Bodies of reports, streams and signatures as they were sent, newest last. */
	readonly reports: string[];
	readonly signatures: string[];
	/** Texts of the packets of the last answer. */
	readonly packetTexts: string[];
	readonly reportQueries: URLSearchParams[];
	behave(behaviour: AttestingBehaviour): void;
	stop(): Promise<void>;
}

export const PIECES = ["Sealed", " words", " of", " the", " model", " – ünïcode."];
export const USAGE = { prompt_tokens: 21, completion_tokens: 7, total_tokens: 28 };

export function startAttestingUpstream(): AttestingUpstream {
	const keys = createKeys();
	let behaviour: AttestingBehaviour = {};
	const [heard, reports, signatures, packetTexts, reportQueries]: [Heard[], string[], string[], string[], URLSearchParams[]] = [
		[],
		[],
		[],
		[],
		[],
	];
	const ids = new Set<string>();
	const server = Bun.serve({
		port: 0,
		hostname: "127.0.0.1",
		idleTimeout: 0,
		development: false,
		error: () => new Response(null, { status: 500 }),
		async fetch(request) {
			const { pathname, searchParams } = new URL(request.url);
			if (pathname === "/v1/models") return Response.json({ object: "list", data: [{ id: "sealed", object: "model" }] });
			if (pathname === "/v1/attestation/report") {
				reportQueries.push(searchParams);
				if (behaviour.reportStatus !== undefined) return new Response("{}", { status: behaviour.reportStatus });
				const report = {
					signing_public_key: keys.publicKey.slice(2),
					signing_key: keys.publicKey,
					signing_address: "0x1111111111111111111111111111111111111111",
					intel_quote: "BAACAIEA",
					request_nonce: searchParams.get("nonce"),
					big: 12345678901234567890n.toString(),
					...behaviour.report,
				};
				// Spaces and order of its own: they must come through.
				const text = JSON.stringify(report, null, 1);
				reports.push(text);
				return new Response(text, { headers: { "content-type": "application/json" } });
			}
			if (pathname.startsWith("/v1/signature/")) {
				const id = decodeURIComponent(pathname.slice("/v1/signature/".length));
				if (behaviour.signatureStatus !== undefined) return new Response("{}", { status: behaviour.signatureStatus });
				if (!ids.has(id)) return Response.json({ error: { message: "unknown" } }, { status: 404 });
				const text = `{"text" : "ab:cd",  "signature":"0x${"7".repeat(130)}","signing_algo":"ecdsa","id":"${id}"}`;
				signatures.push(text);
				return new Response(text, { headers: { "content-type": "application/json" } });
			}
			return chat(request);
		},
	});

	async function chat(request: Request): Promise<Response> {
		const text = await request.text();
		const left = Promise.withResolvers<void>();
		request.signal.addEventListener("abort", () => left.resolve(), { once: true });
		const body = JSON.parse(text) as { messages: { content: string }[]; model: string; stream?: boolean };
		const contents = body.messages.map(({ content }) =>
			typeof content === "string" && isPacket(content) ? open(content, keys.privateKey) : String(content),
		);
		heard.push({ text, headers: request.headers, aborted: left.promise, contents });
		if (behaviour.status !== undefined)
			return Response.json({ error: { message: "refused by the server" } }, { status: behaviour.status });
		const clientKey = request.headers.get("x-client-pub-key");
		const id = `chatcmpl-${randomUUID()}`;
		ids.add(id);
		const head = { id, object: "chat.completion.chunk", created: 1_767_225_600, model: body.model };
		if (body.stream !== true) {
			const message = { role: "assistant", content: PIECES.join("") };
			const choices = [{ index: 0, message, finish_reason: "stop" }];
			return Response.json({ ...head, object: "chat.completion", choices, usage: USAGE });
		}
		packetTexts.length = 0;
		const { hangAfter, cutAfter, withoutUsage } = behaviour;
		const stream = new ReadableStream<Uint8Array>({
			async start(controller) {
				const send = (data: string) => controller.enqueue(new TextEncoder().encode(`data: ${data}\n\n`));
				const chunk = (delta: object, finish_reason: string | null = null) =>
					send(JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason }] }));
				try {
					chunk({ role: "assistant", content: "" });
					for (const [index, piece] of PIECES.entries()) {
						if (index === hangAfter) await left.promise;
						if (index === cutAfter) {
							await behaviour.beforeCut;
							controller.error(new Error("scripted cut"));
							return;
						}
						const content = clientKey === null ? piece : seal(piece, clientKey);
						packetTexts.push(content);
						chunk({ content });
					}
					chunk({}, "stop");
					if (withoutUsage !== true) send(JSON.stringify({ ...head, choices: [], usage: USAGE }));
					send("[DONE]");
					controller.close();
				} catch {
					// The other side has left.
				}
			},
		});
		return new Response(stream, { headers: { "content-type": "text/event-stream" } });
	}

	return {
		url: `http://127.0.0.1:${server.port}/v1`,
		keys,
		heard,
		reports,
		signatures,
		packetTexts,
		reportQueries,
		behave(next) {
			behaviour = next;
		},
		stop: () => server.stop(true),
	};
}
