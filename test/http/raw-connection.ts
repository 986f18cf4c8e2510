/** HTTP/1.1 by hand over a socket: for requests that no client library would send. */
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { WAIT_LIMIT_MS } from "../support/until.ts";

export interface RawAnswer {
	readonly status: number;
	/** By lower-case name; repeated ones are joined with ", ". */
	readonly headers: ReadonlyMap<string, string>;
	readonly body: string;
}

export class RawConnection {
	readonly #socket: Socket;
	#received = Buffer.alloc(0);
	#closed = false;
	#wake: () => void = () => {};

	private constructor(socket: Socket) {
		this.#socket = socket;
		const wake = () => this.#wake();
		socket.on("data", (bytes: Buffer) => {
			this.#received = Buffer.concat([this.#received, bytes]);
			wake();
		});
		const closed = () => {
			this.#closed = true;
			wake();
		};
		socket.on("end", closed);
		socket.on("close", closed);
		// A reset while we still write: the answer that came before it is what counts.
		socket.on("error", closed);
	}

	static open(port: number): Promise<RawConnection> {
		const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
		const connection = new RawConnection(socket);
		return new Promise((resolve, reject) => {
			socket.once("connect", () => resolve(connection));
			socket.once("error", reject);
		});
	}

	/** The same inside TLS, with a certificate that `ca` signs for the host. */
	static openTls(port: number, host: string, ca: string): Promise<RawConnection> {
		const socket = connectTls({ port, host: "127.0.0.1", servername: host, ca, ALPNProtocols: ["http/1.1"] });
		const connection = new RawConnection(socket);
		return new Promise((resolve, reject) => {
			socket.once("secureConnect", () => resolve(connection));
			socket.once("error", reject);
		});
	}

	/** Resolves when the bytes are handed over to the system, or the other side is gone. */
	send(bytes: string | Uint8Array): Promise<void> {
		return new Promise((resolve) => {
			if (this.#closed) resolve();
			else this.#socket.write(bytes, () => resolve());
		});
	}

	/** Sends FIN and goes on reading. */
	halfClose(): void {
		this.#socket.end();
	}

	/** The next whole answer; null where the connection ended without one. */
	async answer(): Promise<RawAnswer | null> {
		for (;;) {
			const parsed = this.#parse();
			if (parsed !== undefined) return parsed;
			if (this.#closed) return null;
			await this.#more();
		}
	}

	/** Resolves when the other side has closed. */
	async closed(): Promise<void> {
		while (!this.#closed) await this.#more();
	}

	/** What came and was not read as an answer. */
	received(): string {
		return this.#received.toString("utf8");
	}

	destroy(): void {
		this.#socket.destroy();
	}

	#more(): Promise<void> {
		return new Promise((resolve, reject) => {
			const timer = setTimeout(() => reject(new Error(`no answer within ${WAIT_LIMIT_MS} ms`)), WAIT_LIMIT_MS);
			this.#wake = () => {
				clearTimeout(timer);
				resolve();
			};
		});
	}

	#parse(): RawAnswer | undefined {
		const headEnd = this.#received.indexOf("\r\n\r\n");
		if (headEnd < 0) return undefined;
		const [statusLine = "", ...lines] = this.#received.toString("latin1", 0, headEnd).split("\r\n");
		const headers = new Map<string, string>();
		for (const line of lines) {
			const colon = line.indexOf(":");
			const name = line.slice(0, colon).toLowerCase();
			const value = line.slice(colon + 1).trim();
			headers.set(name, headers.has(name) ? `${headers.get(name)}, ${value}` : value);
		}
		const rest = this.#received.subarray(headEnd + 4);
		const length = headers.get("content-length");
		const body =
			headers.get("transfer-encoding") === "chunked"
				? unchunked(rest)
				: length === undefined
					? { bytes: Buffer.alloc(0), end: 0 }
					: rest.length >= Number(length)
						? { bytes: rest.subarray(0, Number(length)), end: Number(length) }
						: undefined;
		if (body === undefined) return undefined;
		this.#received = rest.subarray(body.end);
		return { status: Number(statusLine.split(" ")[1]), headers, body: body.bytes.toString("utf8") };
	}
}

/** A chunked body that has come whole, and where it ended; undefined where more must come. */
function unchunked(bytes: Buffer): { readonly bytes: Buffer; readonly end: number } | undefined {
	const pieces: Buffer[] = [];
	let at = 0;
	for (;;) {
		const lineEnd = bytes.indexOf("\r\n", at);
		if (lineEnd < 0) return undefined;
		const size = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
		const start = lineEnd + 2;
		if (bytes.length < start + size + 2) return undefined;
		pieces.push(bytes.subarray(start, start + size));
		at = start + size + 2;
		if (size === 0) return { bytes: Buffer.concat(pieces), end: at };
	}
}

/** Opens a connection, sends one request as it stands, and reads one answer. */
export async function rawExchange(port: number, ...pieces: readonly (string | Uint8Array)[]): Promise<RawAnswer | null> {
	const connection = await RawConnection.open(port);
	try {
		for (const piece of pieces) await connection.send(piece);
		return await connection.answer();
	} finally {
		connection.destroy();
	}
}

/** The head of a chat request; further header lines as given, none of them checked. */
export function chatHead(key: string, lines: readonly string[]): string {
	const head = ["POST /api/v1/chat/completions HTTP/1.1", "Host: localhost", `Authorization: Bearer ${key}`];
	return `${[...head, ...lines].join("\r\n")}\r\n\r\n`;
}
