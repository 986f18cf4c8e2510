import { setImmediate as nextTurn } from "node:timers/promises";
import { ApiError } from "../../../errors/index.ts";
import { invalidField } from "../../../schema/index.ts";
import { isRecord } from "../../../schema/is-record.ts";
import { isSealedPacket } from "../../../wire/sealed-packet.ts";
import { isPublicKey, openPacket, PacketSealer, PacketUnreadable } from "./packet-cipher.ts";
import type { SoftwareKey } from "./software-key.ts";

/** Request headers of servers that support sealed conversations. */
const SEALED_HEADERS = {
	clientKey: "x-client-pub-key",
	modelKey: "x-model-pub-key",
	algorithm: "x-signing-algo",
} as const;

const CLIENT_KEY = /^04[0-9a-f]{128}$/i;

type Fields = Record<string, unknown>;

/** One sealed conversation at the engine: opens the messages, seals the answer. */
export class SealedConversation {
	readonly #key: SoftwareKey;
	readonly #clientKey: Uint8Array;

	private constructor(key: SoftwareKey, clientKey: Uint8Array) {
		this.#key = key;
		this.#clientKey = clientKey;
	}

	/**
	 * Reads the headers; null if a request has none of them.
	 * @throws {ApiError} INVALID_REQUEST
	 */
	static of(headers: Headers, key: () => SoftwareKey): SealedConversation | null {
		const [client, model, algorithm] = Object.values(SEALED_HEADERS).map((name) => headers.get(name));
		if (!client && !model && !algorithm) return null;
		if (!client || !CLIENT_KEY.test(client)) throw conversationError("The client's key must be 130 hex digits, 04 first");
		if (algorithm?.toLowerCase() !== "ecdsa") throw conversationError("The signing algorithm must be ecdsa");
		const own = key();
		if (withoutPrefix(model ?? "") !== withoutPrefix(own.publicKey))
			throw conversationError("The conversation is sealed for another key than this model has now; ask for its attestation anew");
		const clientKey = Buffer.from(client, "hex");
		if (!isPublicKey(clientKey)) throw conversationError("The client's key is not a point of secp256k1");
		return new SealedConversation(own, clientKey);
	}

	/**
	 * Returns the body with its messages opened. Each takes about a millisecond, and other requests run in between.
	 * @throws {ApiError} INVALID_REQUEST, the signal's reason
	 */
	async open(body: unknown, signal: AbortSignal): Promise<unknown> {
		if (!isRecord(body) || !Array.isArray(body.messages)) return body;
		if (body.stream !== true) throw invalidField(["stream"], "must be true in a sealed conversation");
		const messages: unknown[] = [];
		for (const [index, message] of body.messages.entries()) {
			messages.push(isRecord(message) ? this.#opened(message, index) : message);
			await nextTurn();
			signal.throwIfAborted();
		}
		return { ...body, messages };
	}

	/** Returns a sealer for the pieces of one choice. */
	sealer(): PacketSealer {
		return new PacketSealer(this.#clientKey);
	}

	#opened(message: Fields, index: number): Fields {
		const { role, content } = message;
		if (role === "assistant" || role === "tool") return message;
		// A developer's plain text arrives as a system message; plain system messages were refused earlier.
		if (role !== "user" && !(typeof content === "string" && isSealedPacket(content))) return message;
		try {
			return { ...message, content: openPacket(typeof content === "string" ? content : "", this.#key.privateKey) };
		} catch (fault) {
			if (!(fault instanceof PacketUnreadable)) throw fault;
			throw invalidField(["messages", index, "content"], "does not open with this model's key");
		}
	}
}

function conversationError(message: string): ApiError {
	return new ApiError("INVALID_REQUEST", { message });
}

/** Keys may start with the byte 04 or omit it. */
function withoutPrefix(key: string): string {
	return key.toLowerCase().replace(/^04(?=[0-9a-f]{128}$)/, "");
}
