/**
 * A node of a chain that does as it is told: JSON-RPC 2.0 over HTTP from its public specification, and the ways in which
 * real nodes and gateways break it. It keeps what it received.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

export interface ChainItem {
	readonly jsonrpc: string;
	readonly id: number;
	readonly method: string;
	readonly params: unknown;
}

export interface ChainRequest {
	readonly items: readonly ChainItem[];
	readonly isArray: boolean;
	readonly text: string;
	readonly headers: Readonly<Record<string, string | string[] | undefined>>;
	readonly atMs: number;
	/** The connection was closed by the other side before the answer was done. */
	isAborted: boolean;
}

/** How one request is answered. Without any: every item by `result`, an array in the order of the request. */
export interface ChainBehaviour {
	/** No byte ever. */
	readonly hang?: boolean;
	readonly delayMs?: number;
	/** Before the first byte of the answer. */
	readonly after?: Promise<void>;
	/** The connection is reset before a byte. */
	readonly reset?: boolean;
	readonly status?: number;
	readonly headers?: Readonly<Record<string, string>>;
	/** A body as it is. */
	readonly raw?: string | Uint8Array;
	/** The response, in place of the plain one. */
	readonly answer?: (request: ChainRequest) => unknown;
	/** Half of the body, then the connection is cut. */
	readonly closeMidBody?: boolean;
	/** Packs the body. */
	readonly pack?: { readonly encoding: string; readonly with: (body: Uint8Array) => Uint8Array };
	/** Bytes of the body in pieces of this size, each its own write. */
	readonly pieces?: number;
	/** The body in the given pieces; what comes next is made when there is room for it. */
	readonly stream?: () => Iterable<Uint8Array>;
	/** Of a stream: its end waits for it. */
	readonly waitAtEnd?: Promise<void>;
}

export interface ScriptedChain {
	readonly url: string;
	readonly port: number;
	/** All but probes, which are single calls for the chain's id, its newest block and its final one. */
	readonly requests: ChainRequest[];
	readonly probes: number;
	/** Of requests that are no probes. */
	next(...behaviours: readonly ChainBehaviour[]): void;
	always(behaviour: ChainBehaviour | ((request: ChainRequest) => ChainBehaviour)): void;
	/** What probes get; default: the chain id and a block. */
	probesGet(behaviour: ChainBehaviour | null): void;
	/** The result of a method. */
	result(method: string, value: unknown | ((params: unknown) => unknown)): void;
	chainId: string;
	stop(): Promise<void>;
	/** Listens again on the same port. */
	start(): Promise<void>;
}

const PROBES = new Set(["eth_chainId", "eth_blockNumber", "starknet_chainId", "starknet_blockNumber"]);

/** What the pool asks for itself: the chain's id, the newest block, the final one. */
function isOwnQuestion(item: ChainItem | undefined): boolean {
	const { method = "", params } = item ?? {};
	return PROBES.has(method) || (method === "eth_getBlockByNumber" && Array.isArray(params) && params[0] === "finalized");
}

export async function startScriptedChain(chainId = "0x1"): Promise<ScriptedChain> {
	const requests: ChainRequest[] = [];
	const queue: ChainBehaviour[] = [];
	const results = new Map<string, unknown>();
	const sockets = new Set<Socket>();
	let standing: ChainBehaviour | ((request: ChainRequest) => ChainBehaviour) = {};
	let probing: ChainBehaviour | null = null;
	let probes = 0;
	let port = 0;

	const plain = (request: ChainRequest): unknown => {
		const answers = request.items.map(({ id, method, params }) => {
			const result = results.get(method) ?? "0x2a";
			return { jsonrpc: "2.0", id, result: typeof result === "function" ? result(params) : result };
		});
		return request.isArray ? answers : answers[0];
	};

	const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
		const chunks: Uint8Array[] = [];
		for await (const chunk of incoming) chunks.push(chunk);
		const text = Buffer.concat(chunks).toString();
		const body = JSON.parse(text) as ChainItem | ChainItem[];
		const items = Array.isArray(body) ? body : [body];
		const request: ChainRequest = {
			items,
			isArray: Array.isArray(body),
			text,
			headers: incoming.headers,
			atMs: performance.now(),
			isAborted: false,
		};
		response.on("close", () => {
			request.isAborted = !response.writableFinished;
		});
		const isProbe = items.length === 1 && isOwnQuestion(items[0]);
		let behaviour: ChainBehaviour;
		if (isProbe) {
			probes++;
			behaviour = probing ?? {};
		} else {
			requests.push(request);
			behaviour = queue.shift() ?? (typeof standing === "function" ? standing(request) : standing);
		}
		await answer(request, behaviour, response);
	};

	const answer = async (request: ChainRequest, behaviour: ChainBehaviour, response: ServerResponse): Promise<void> => {
		if (behaviour.hang) return;
		if (behaviour.delayMs) await new Promise((resolve) => setTimeout(resolve, behaviour.delayMs));
		if (behaviour.after !== undefined) await behaviour.after;
		if (behaviour.reset) {
			response.socket?.destroy();
			return;
		}
		const headers: Record<string, string> = { "content-type": "application/json", ...behaviour.headers };
		if (behaviour.stream) {
			response.writeHead(behaviour.status ?? 200, headers);
			for (const piece of behaviour.stream()) {
				if (response.destroyed) return;
				if (!response.write(piece)) await roomIn(response);
			}
			await behaviour.waitAtEnd;
			response.end();
			return;
		}
		let body: Uint8Array = Buffer.from(behaviour.raw ?? JSON.stringify((behaviour.answer ?? plain)(request)));
		if (behaviour.pack) {
			body = behaviour.pack.with(body);
			headers["content-encoding"] = behaviour.pack.encoding;
		}
		if (behaviour.pieces === undefined) headers["content-length"] = String(body.length);
		response.writeHead(behaviour.status ?? 200, headers);
		if (behaviour.closeMidBody) {
			response.write(body.subarray(0, body.length / 2), () => setTimeout(() => response.socket?.destroy(), 5));
			return;
		}
		if (behaviour.pieces !== undefined)
			for (let at = 0; at < body.length; at += behaviour.pieces) response.write(body.subarray(at, at + behaviour.pieces));
		response.end(behaviour.pieces === undefined ? body : undefined);
	};

	let server = createServer();
	const start = async (): Promise<void> => {
		server = createServer((incoming, response) => void handle(incoming, response).catch(() => response.destroy()));
		server.on("connection", (socket) => {
			sockets.add(socket);
			socket.on("close", () => sockets.delete(socket));
		});
		await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
		port = (server.address() as AddressInfo).port;
	};
	await start();

	const chain: ScriptedChain = {
		chainId,
		get url() {
			return `http://127.0.0.1:${port}`;
		},
		get port() {
			return port;
		},
		requests,
		get probes() {
			return probes;
		},
		next: (...behaviours) => void queue.push(...behaviours),
		always: (behaviour) => {
			standing = behaviour;
		},
		probesGet: (behaviour) => {
			probing = behaviour;
		},
		result: (method, value) => void results.set(method, value),
		async stop() {
			const closed = new Promise<void>((resolve) => server.close(() => resolve()));
			for (const socket of sockets) socket.destroy();
			await closed;
		},
		start,
	};
	results.set("eth_chainId", () => chain.chainId);
	results.set("starknet_chainId", () => chain.chainId);
	results.set("eth_blockNumber", "0x10");
	results.set("starknet_blockNumber", 16);
	return chain;
}

/** Resolves when more may be written, or nothing more can be. */
function roomIn(response: ServerResponse): Promise<void> {
	return new Promise((resolve) => {
		const done = () => {
			response.off("drain", done);
			response.off("close", done);
			resolve();
		};
		response.on("drain", done);
		response.on("close", done);
	});
}
