import type { TextModel } from "../catalog/types.ts";
import { invalidField } from "../schema/index.ts";
import { isRecord } from "../schema/is-record.ts";
import { atOnce, BODY_BOUNDS, cutJson } from "../wire/index.ts";
import type { ChatBody } from "./schema.ts";

/** The format that this service enforces: a JSON object, or what a schema allows. */
export interface EnforcedFormat {
	/** null: any object. */
	readonly schema: Readonly<Record<string, unknown>> | null;
}

/**
 * Returns the format to enforce; null if the upstream enforces it, or none is requested.
 * @throws ApiError 400 for several choices
 */
export function formatToEnforce(body: ChatBody, model: Pick<TextModel, "id" | "repairsFormat">): EnforcedFormat | null {
	const format = body.response_format;
	if (model.repairsFormat !== true || format === undefined || format.type === "text") return null;
	if ((body.n ?? 1) > 1) throw invalidField(["n"], `must be 1 with a response_format for ${model.id}`, "unsupported");
	if (format.type === "json_object") return { schema: null };
	const jsonSchema = format.json_schema as Readonly<Record<string, unknown>>;
	return { schema: isRecord(jsonSchema.schema) ? jsonSchema.schema : jsonSchema };
}

/** Returns the system message that describes the format to the model. */
export function formatInstruction({ schema }: EnforcedFormat): string {
	const shape = "and nothing else: no words around it and no code fence.";
	if (schema === null) return `Answer with one JSON object ${shape}`;
	return `Answer with one JSON value ${shape} It must fit this JSON Schema:\n${JSON.stringify(schema)}`;
}

/** Returns the message that asks the model to correct an answer with these faults. */
export function formatComplaint(faults: readonly string[]): string {
	return `That answer does not have the format that was asked for:\n${faults.map((fault) => `- ${fault}`).join("\n")}\nGive the whole answer again, as JSON alone.`;
}

export interface JsonMatch {
	/** The JSON text alone. */
	readonly text: string;
	readonly value: unknown;
}

const FENCE = "```";

/** Longer answers are not searched for JSON. */
const MAX_JSON_CHARS = 1_048_576;

/** Returns the one JSON value of an answer, also within a code fence or words; null if there is none. */
export function jsonIn(answer: string): JsonMatch | null {
	if (answer.length > MAX_JSON_CHARS) return null;
	const text = answer.trim();
	return parseMatch(text) ?? parseMatch(inFence(text)) ?? parseMatch(inBraces(text));
}

function parseMatch(text: string): JsonMatch | null {
	if (text === "") return null;
	try {
		atOnce(cutJson(Buffer.from(text), BODY_BOUNDS));
		return { text, value: JSON.parse(text) as unknown };
	} catch {
		return null;
	}
}

function inFence(text: string): string {
	const open = text.indexOf(FENCE);
	const line = text.indexOf("\n", open);
	const close = text.lastIndexOf(FENCE);
	return open < 0 || line < 0 || close <= line ? "" : text.slice(line, close).trim();
}

/** Returns the text from the first bracket to the last of its kind. */
function inBraces(text: string): string {
	const open = text.search(/[{[]/);
	if (open < 0) return "";
	return text.slice(open, text.lastIndexOf(text[open] === "{" ? "}" : "]") + 1);
}
