/**
 * Recognises that a provider refuses a prompt, or the picture made of it, by its content rules. Some refusals are in a
 * successful answer. Their packages would keep polling, or return the refusal as a picture.
 * Sources: Google's GenerateContentResponse (promptFeedback, finishReason); xAI's images reference
 * (respect_moderation); fal's page "Errors" (content_policy_violation) and its models' has_nsfw_concepts; Black Forest
 * Labs' StatusResponse; Replicate's prediction `error`; Luma's `failure_reason`; Amazon's Nova Canvas (`error`,
 * "Request Moderated").
 */

import type { ProviderName } from "../../../config/providers.ts";
import { isRecord } from "../../../schema/is-record.ts";
import { contentRefusal } from "../../content-policy.ts";
import { errorTextOf } from "../../error-text.ts";
import { UpstreamFailure } from "../../failures.ts";
import { type Fields, parts } from "../chat/fields.ts";

/** Returns the provider's message, which may be empty; null: no refusal. */
type Reader = (body: Fields) => string | null;

const GEMINI_REASONS = /SAFETY|PROHIBITED_CONTENT|BLOCKLIST|SPII|RECITATION/;
const REFUSED_STATUSES: ReadonlySet<number> = new Set([400, 403, 422]);
const WORDS =
	/content[_ -]?(?:policy|filter|moderat|violat|checker)|nsfw|moderation|moderated|safety system|flagged as|usage guidelines/i;

const GOOD_ANSWERS: Readonly<Partial<Record<ProviderName, Reader>>> = {
	bedrock: ({ status, error }) => (status === "Request Moderated" || /content filters/i.test(text(error)) ? text(error) : null),
	"black-forest-labs": moderatedStatus,
	fal: (body) => (anyTrue(body.has_nsfw_concepts) || anyTrue(body.nsfw_content_detected) ? "" : null),
	fireworks: moderatedStatus,
	google: gemini,
	"google-vertex": gemini,
	luma: ({ state, failure_reason }) =>
		state === "failed" && /moderat/i.test(text(failure_reason)) ? text(failure_reason) : null,
	replicate: ({ status, error }) =>
		status === "failed" && /nsfw|sensitive|flagged|moderat|safety/i.test(text(error)) ? text(error) : null,
	xai: ({ data }) => (parts(data).some((entry) => entry.respect_moderation === false) ? "" : null),
};

/** Returns the failure if the answer refuses the content; null otherwise. */
export function refusalOf(provider: ProviderName, status: number, body: unknown): UpstreamFailure | null {
	const words = status >= 200 && status < 300 ? ofGoodAnswer(provider, body) : ofError(status, body);
	return words === null
		? null
		: new UpstreamFailure("request", contentRefusal(words.slice(0, 2_000)), "refused by its content rules", status);
}

function ofGoodAnswer(provider: ProviderName, body: unknown): string | null {
	return isRecord(body) ? (GOOD_ANSWERS[provider]?.(body) ?? null) : null;
}

function ofError(status: number, body: unknown): string | null {
	if (!REFUSED_STATUSES.has(status)) return null;
	const errorText = isRecord(body) ? errorTextOf(body) : null;
	const types = isRecord(body) ? parts(body.detail).map(({ type }) => text(type)) : [];
	return WORDS.test([errorText?.message, errorText?.code, errorText?.type, ...types].join(" "))
		? (errorText?.message ?? "")
		: null;
}

/** Recognises "Request Moderated" and "Content Moderated". */
function moderatedStatus({ status }: Fields): string | null {
	return /moderated/i.test(text(status)) ? "" : null;
}

function gemini({ promptFeedback, candidates }: Fields): string | null {
	const feedback = isRecord(promptFeedback) ? promptFeedback : {};
	if (text(feedback.blockReason) !== "") return text(feedback.blockReasonMessage);
	const stopped = parts(candidates).find(({ finishReason }) => GEMINI_REASONS.test(text(finishReason)));
	return stopped === undefined ? null : text(stopped.finishMessage);
}

function anyTrue(flags: unknown): boolean {
	return Array.isArray(flags) && flags.includes(true);
}

function text(value: unknown): string {
	return typeof value === "string" ? value : "";
}
