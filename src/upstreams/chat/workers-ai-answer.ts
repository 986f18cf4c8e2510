import { isRecord } from "../../schema/is-record.ts";
import {
	callOf,
	chunkOf,
	deltaOf,
	type Fields,
	type NativeConverter,
	type NativeForm,
	recordsOf,
	textOf,
} from "./native-form.ts";

/**
 * Cloudflare Workers AI (its pages "Text generation" and "Function calling"): the `result` of a whole answer, or one event
 * of a stream. A stream has no finish reason and ends with `[DONE]`.
 */
export const WORKERS_AI_FORM: NativeForm = {
	matches: ({ response, done, usage, tool_calls: calls }) =>
		done === undefined &&
		(typeof response === "string" || isRecord(response) || (response === null && (isRecord(usage) || Array.isArray(calls)))),
	createConverter: () => new WorkersAiConverter(),
};

/** Returns the `result` of Cloudflare's envelope (`{result, success, errors, messages}`); other values unchanged. */
export function withoutEnvelope(body: Fields): Fields {
	const { result, success } = body;
	return success === true && isRecord(result) ? result : body;
}

class WorkersAiConverter implements NativeConverter {
	#callCount = 0;

	chunk({ response, tool_calls: calls, usage }: Fields): Fields {
		// An answer in a JSON format comes as its value.
		const content = isRecord(response) ? JSON.stringify(response) : textOf(response);
		const called = recordsOf(calls).map((call) => this.#call(call));
		return { ...chunkOf(deltaOf(content, "", called), null), ...(isRecord(usage) ? { usage } : {}) };
	}

	end(): Fields {
		return chunkOf({}, this.#callCount > 0 ? "tool_calls" : "stop");
	}

	/** Converts a call. Older models send name and arguments without `function`. */
	#call({ id, function: called, name, arguments: written = {} }: Fields): Fields {
		const index = this.#callCount++;
		return isRecord(called) ? callOf(index, id, called.name, called.arguments ?? {}) : callOf(index, id, name, written);
	}
}
