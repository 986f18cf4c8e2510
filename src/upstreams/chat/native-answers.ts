/** Recognizes and converts answers that are not in OpenAI's form. */
import { isRecord } from "../../schema/is-record.ts";
import { ANTHROPIC_FORM } from "./anthropic-answer.ts";
import { GEMINI_FORM } from "./gemini-answer.ts";
import type { Fields, NativeConverter, NativeForm } from "./native-form.ts";
import { OLLAMA_FORM } from "./ollama-answer.ts";
import { WORKERS_AI_FORM, withoutEnvelope } from "./workers-ai-answer.ts";

/** The first form that matches counts. */
const FORMS: readonly NativeForm[] = [OLLAMA_FORM, GEMINI_FORM, ANTHROPIC_FORM, WORKERS_AI_FORM];

/** Returns the form of an answer or of a piece of one; undefined for OpenAI's form and unknown ones. */
export function nativeFormOf(value: unknown): NativeForm | undefined {
	if (!isRecord(value) || Array.isArray(value.choices)) return undefined;
	return FORMS.find((form) => form.matches(value));
}

/** Converts the pieces of one answer, whose first native piece decides the form. */
export class NativeAnswer {
	#form: NativeForm | undefined;
	#converter: NativeConverter | undefined;

	/** Returns the chunk of a native piece, and other values unchanged; null for a piece without anything for the caller. */
	chunk(piece: Fields): Fields | null {
		const body = withoutEnvelope(piece);
		const form = nativeFormOf(body);
		if (form === undefined) return body;
		if (form !== this.#form) {
			this.#form = form;
			this.#converter = form.createConverter();
		}
		return this.#converter?.chunk(body) ?? null;
	}

	/** Returns the chunk that ends a stream whose form has no finish reason; null for other forms. */
	end(): Fields | null {
		return this.#converter?.end?.() ?? null;
	}
}
