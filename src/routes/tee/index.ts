/**
 * GET /tee/attestation and /tee/signature: what a model's server proves about itself, and its signature of an answer.
 * Free. This service never declares a proof valid: callers verify the report.
 */

import Type, { type Static } from "typebox";
import { checkModelRule } from "../../access/index.ts";
import type { Catalog, TextModel } from "../../catalog/index.ts";
import type { Receipts } from "../../completions/index.ts";
import { ApiError } from "../../errors/index.ts";
import { invalidField } from "../../schema/index.ts";
import { named } from "../../schema/named-schema.ts";
import { patternedText } from "../../schema/patterned-text.ts";
import type { Call } from "../../server/call.ts";
import { type Answer, type Endpoint, json, plain } from "../../server/endpoint.ts";
import type { Attestations } from "../../upstreams/attestation/port.ts";

/** Some servers refuse nonces of 32 digits. They are accepted only for models without sealed chat. */
const NONCE_DIGITS = 64;

const Model = Type.String({ minLength: 1, maxLength: 512, description: "A model with supportsTeeAttestation" });
const AttestationQuery = Type.Object({
	model: Model,
	nonce: patternedText("^([0-9a-fA-F]{32}|[0-9a-fA-F]{64})$", "must be 64 hex digits", {
		description: "32 random bytes as 64 hex digits. Servers without sealed chat may take 32 digits",
	}),
});
const SignatureQuery = Type.Object({
	model: Model,
	request_id: Type.String({ minLength: 1, maxLength: 256, description: "The completion's id, chatcmpl-..." }),
});

/** Servers add members of their own. */
const ReportSchema = named(
	"AttestationReport",
	Type.Object(
		{
			nonce: Type.Optional(Type.String()),
			signing_address: Type.Optional(Type.String()),
			signing_key: Type.Optional(Type.String()),
		},
		{ additionalProperties: true },
	),
);
const SignatureSchema = named(
	"CompletionSignature",
	Type.Object(
		{
			text: Type.Optional(Type.String({ description: "The signed text: the hashes of request and answer" })),
			signature: Type.Optional(Type.String()),
			signing_address: Type.Optional(Type.String()),
			signing_algo: Type.Optional(Type.String()),
		},
		{ additionalProperties: true },
	),
);

export interface TeeDeps {
	readonly catalog: () => Catalog;
	readonly attestations: Attestations;
	readonly receipts: Receipts;
	readonly wallMs: () => number;
}

const common = { method: "GET", tag: "Sealed chat", openAi: false, callers: ["key"], listLimit: true } as const;

export function teeRoutes(parts: TeeDeps): Endpoint[] {
	return [
		plain({
			...common,
			path: "/tee/attestation",
			name: "tee-attestation",
			summary: "Prove what a model runs in, for a nonce",
			query: AttestationQuery,
			codes: ["MODEL_NOT_FOUND", "TEE_ATTESTATION_FAILED", "MODEL_OFFLINE"],
			answer: { type: "application/json", schema: ReportSchema, description: "The server's report, unchanged" },
			async run({ query }, call) {
				const { model: name, nonce } = query as Static<typeof AttestationQuery>;
				const model = attestingModel(name, call, parts);
				if (model.capabilities.supportsE2EE && nonce.length < NONCE_DIGITS)
					throw invalidField(["nonce"], "must be 64 hex digits");
				return jsonAnswer(await parts.attestations.report(model, nonce, call.signal));
			},
		}),
		plain({
			...common,
			path: "/tee/signature",
			name: "tee-signature",
			summary: "The signature of a completion",
			query: SignatureQuery,
			codes: ["MODEL_NOT_FOUND", "NOT_FOUND", "TEE_SIGNATURE_FAILED", "MODEL_OFFLINE"],
			answer: { type: "application/json", schema: SignatureSchema, description: "The server's signature, unchanged" },
			async run({ query }, call) {
				const { model: name, request_id: id } = query as Static<typeof SignatureQuery>;
				const model = attestingModel(name, call, parts);
				const receipt = parts.receipts.find(id);
				const isOthers = receipt !== null && (receipt.accountId !== call.caller?.account.id || receipt.modelId !== model.id);
				if (isOthers) throw unknownCompletion();
				if (receipt?.hashes != null) {
					const { request, response } = receipt.hashes;
					const signed = await parts.attestations.ownSignature(`${request}:${response}`, call.signal);
					return json({ model: model.id, request_id: id, ...signed });
				}
				const { upstreamId = id, upstream = null } = receipt ?? {};
				const signature = await parts.attestations.signature(model, upstreamId, upstream, call.signal);
				if (signature === null) throw unknownCompletion();
				return jsonAnswer(signature);
			},
		}),
	];
}

function unknownCompletion(): ApiError {
	return new ApiError("NOT_FOUND", { message: "No server of this model knows this completion; ask soon after its end" });
}

/** Returns the model. Throws the catalog's errors, and INVALID_REQUEST if the model has no attestation. */
function attestingModel(name: string, { caller }: Call, { catalog, wallMs }: TeeDeps): TextModel {
	const { model } = catalog().resolve(name, "text", wallMs());
	if (caller !== null) checkModelRule(caller, model.id);
	if (!model.capabilities.supportsTeeAttestation) throw invalidField(["model"], `${model.id} proves nothing of what it runs in`);
	return model;
}

function jsonAnswer(body: Uint8Array): Answer {
	return { status: 200, type: "application/json", body };
}
