import { isRecord } from "../../schema/is-record.ts";
import { brokenAnswer, failureOfAnswer, type UpstreamFailure } from "../failures.ts";
import { isFailedReason } from "../finish-reason.ts";

/** Returns the failure of an answer whose server says that a choice failed; null if it says so of none. */
export function failureOfChoices(choices: unknown): UpstreamFailure | null {
	if (!Array.isArray(choices)) return null;
	for (const choice of choices as unknown[]) {
		if (!isRecord(choice) || !isFailedReason(choice.finish_reason)) continue;
		// OpenRouter sends the error in the choice.
		if (isRecord(choice.error)) return failureOfAnswer(200, { error: choice.error }, null);
		return brokenAnswer(`finish_reason ${choice.finish_reason}`);
	}
	return null;
}
