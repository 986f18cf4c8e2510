/** A client of sealed conversations, written from docs/sealed-chat.md: attestation, sealing, opening, signature. */
import { createHash, randomBytes } from "node:crypto";
import { type Hex, verifyMessage } from "viem";
import { type ChatChunk, eventsOf } from "./chat-bodies.ts";
import { createKeys, isPacket, type Keys, open, seal } from "./sealed-crypto.ts";

export interface Attestation {
	readonly verified: boolean;
	readonly nonce: string;
	readonly model: string;
	readonly signing_key: string;
	readonly signing_address: Hex;
	readonly [member: string]: unknown;
}

export interface SealedAnswer {
	readonly id: string;
	readonly text: string;
	/** Deltas that were sealed, as they came. */
	readonly packets: readonly string[];
	readonly chunks: readonly ChatChunk[];
	readonly isDone: boolean;
	readonly requestBody: string;
	readonly responseBody: string;
}

export interface Message {
	readonly role: string;
	readonly content: unknown;
}

export class SealedClient {
	readonly attestation: Attestation;
	readonly keys: Keys = createKeys();
	readonly #url: string;
	readonly #key: string;
	readonly #model: string;

	private constructor(url: string, key: string, model: string, attestation: Attestation) {
		this.#url = url;
		this.#key = key;
		this.#model = model;
		this.attestation = attestation;
	}

	/** Asks for the attestation on a fresh nonce, and refuses one on another. `url`: up to and including /api/v1. */
	static async of(url: string, key: string, model: string): Promise<SealedClient> {
		const nonce = randomBytes(32).toString("hex");
		const query = new URLSearchParams({ model, nonce });
		const response = await fetch(`${url}/tee/attestation?${query}`, { headers: { authorization: `Bearer ${key}` } });
		if (response.status !== 200) throw new Error(`attestation: ${response.status} ${await response.text()}`);
		const attestation = (await response.json()) as Attestation;
		if (attestation.nonce !== nonce) throw new Error("the attestation is on another nonce");
		return new SealedClient(url, key, model, attestation);
	}

	get headers(): Record<string, string> {
		return {
			"X-Service-TEE-Client-Pub-Key": this.keys.publicKey,
			"X-Service-TEE-Model-Pub-Key": this.attestation.signing_key,
			"X-Service-TEE-Signing-Algo": "ecdsa",
		};
	}

	seal(text: string): string {
		const key = this.attestation.signing_key;
		return seal(text, key.length === 128 ? `04${key}` : key);
	}

	/** Messages of users and systems, sealed. */
	sealed(messages: readonly Message[]): Message[] {
		return messages.map(({ role, content }) =>
			(role === "user" || role === "system") && typeof content === "string"
				? { role, content: this.seal(content) }
				: { role, content },
		);
	}

	post(body: object, options: { headers?: Record<string, string>; signal?: AbortSignal } = {}): Promise<Response> {
		return fetch(`${this.#url}/chat/completions`, {
			method: "POST",
			headers: {
				authorization: `Bearer ${this.#key}`,
				"content-type": "application/json",
				...(options.headers ?? this.headers),
			},
			body: JSON.stringify({ model: this.#model, stream: true, ...body }),
			...(options.signal === undefined ? {} : { signal: options.signal }),
		});
	}

	/** A whole sealed conversation. */
	async ask(messages: readonly Message[], more: object = {}): Promise<SealedAnswer> {
		const body = { messages: this.sealed(messages), ...more };
		const response = await this.post(body);
		const responseBody = await response.text();
		if (response.status !== 200) throw new Error(`${response.status} ${responseBody}`);
		const { chunks, done } = eventsOf(responseBody);
		const pieces = chunks.flatMap(({ choices }) => choices.map(({ delta }) => String(delta.content ?? "")));
		return {
			id: chunks[0]?.id ?? "",
			text: pieces.map((piece) => (isPacket(piece) ? open(piece, this.keys.privateKey) : piece)).join(""),
			packets: pieces.filter(isPacket),
			chunks,
			isDone: done,
			requestBody: JSON.stringify({ model: this.#model, stream: true, ...body }),
			responseBody,
		};
	}

	signature(id: string): Promise<Response> {
		const query = new URLSearchParams({ model: this.#model, request_id: id });
		return fetch(`${this.#url}/tee/signature?${query}`, { headers: { authorization: `Bearer ${this.#key}` } });
	}
}

/** Whether a signature is the address's, and of these two bodies. Comments of a stream are not part of it. */
export async function isSignatureOf(
	signed: { readonly text: string; readonly signature: Hex; readonly signing_address: Hex },
	request: string,
	response: string,
): Promise<boolean> {
	const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
	const text = `${sha256(request)}:${sha256(response.replaceAll(/^: .*\n\n/gm, ""))}`;
	if (signed.text !== text) return false;
	return verifyMessage({ address: signed.signing_address, message: text, signature: signed.signature });
}
