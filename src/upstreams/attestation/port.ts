import type { ModelTarget, TextModel } from "../../catalog/types.ts";

/** Attestation reports, signatures of answers, and which server holds which key. */
export interface Attestations {
	/**
	 * Returns one server's report for a nonce: its own JSON, with the members added that it lacks.
	 * @throws ApiError TEE_ATTESTATION_FAILED, or the built-in engine's error if it cannot start
	 */
	report(model: TextModel, nonce: string, signal: AbortSignal): Promise<Uint8Array>;
	/**
	 * Returns a server's signature of a completion, unchanged; null if no server of the model knows the completion.
	 * @param upstream the server that answered, if known
	 * @throws ApiError TEE_SIGNATURE_FAILED
	 */
	signature(model: TextModel, id: string, upstream: string | null, signal: AbortSignal): Promise<Uint8Array | null>;
	/** Returns the built-in engine's signature of a text. Throws TEE_SIGNATURE_FAILED. */
	ownSignature(text: string, signal: AbortSignal): Promise<OwnSignature>;
	/** Returns the target that holds a key; null if none does. If the key is not known yet, all targets are queried. */
	holderOf(model: TextModel, modelKey: string, signal: AbortSignal): Promise<ModelTarget | null>;
}

export interface OwnSignature {
	readonly text: string;
	/** A personal_sign signature (ERC-191) as 0x, r, s, v. */
	readonly signature: string;
	readonly signing_address: string;
	readonly signing_algo: string;
}
