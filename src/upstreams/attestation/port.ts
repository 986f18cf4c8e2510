import type { ModelTarget, TextModel } from "../../catalog/types.ts";

/** What servers say of themselves: the report on what they run in, signatures of what they said, whose key is whose. */
export interface Attestations {
	/**
	 * The report of a server of the model on a nonce: its own JSON, with the members added that it lacks.
	 * Throws TEE_ATTESTATION_FAILED, and what the built-in engine throws where it cannot start.
	 */
	report(model: TextModel, nonce: string, signal: AbortSignal): Promise<Uint8Array>;
	/**
	 * A server's signature of a completion, as it came; null where no server of the model knows it.
	 * `upstream`: who answered, where that is known. Throws TEE_SIGNATURE_FAILED.
	 */
	signature(model: TextModel, id: string, upstream: string | null, signal: AbortSignal): Promise<Uint8Array | null>;
	/** The built-in engine's signature of a text. Throws TEE_SIGNATURE_FAILED. */
	ownSignature(text: string, signal: AbortSignal): Promise<OwnSignature>;
	/** The target that holds a key; all of them are asked where it has not been seen. null where none does. */
	holderOf(model: TextModel, modelKey: string, signal: AbortSignal): Promise<ModelTarget | null>;
}

export interface OwnSignature {
	readonly text: string;
	/** personal_sign (ERC-191): 0x, r, s, v. */
	readonly signature: string;
	readonly signing_address: string;
	readonly signing_algo: string;
}
