import { isRecord } from "../../schema/is-record.ts";

type Fields = Record<string, unknown>;

/** Members of a delta that carry the model's text in pieces. */
const TEXT_KEYS = ["content", "reasoning_content", "reasoning", "thinking", "refusal"];
/** Members with text of a piece that a provider needs back. */
const DETAIL_TEXT_KEYS = ["text", "summary", "data"];

/** A place in the events of a stream where a text arrives in pieces. */
export interface TextPlace {
	/** The key, equal for all pieces of one text. */
	readonly key: string;
	readonly text: string;
	/** Writes another text there. */
	write(text: string): void;
}

/** Returns the texts in an event's body, in order: texts, thoughts, refusals and arguments of calls, of each choice. */
export function textPlaces(body: Readonly<Fields>): TextPlace[] {
	const places: TextPlace[] = [];
	for (const choice of records(body.choices)) {
		const index = String(choice.index ?? 0);
		add(places, choice, "text", index);
		const { delta } = choice;
		if (!isRecord(delta)) continue;
		for (const name of TEXT_KEYS) add(places, delta, name, index);
		for (const part of records(delta.content)) add(places, part, "text", `${index} content`);
		for (const call of records(delta.tool_calls))
			if (isRecord(call.function)) add(places, call.function, "arguments", `${index} call ${String(call.index ?? 0)}`);
		if (isRecord(delta.function_call)) add(places, delta.function_call, "arguments", `${index} call`);
		for (const detail of records(delta.reasoning_details))
			for (const name of DETAIL_TEXT_KEYS) add(places, detail, name, `${index} detail ${String(detail.index ?? "")}`);
	}
	return places;
}

function add(places: TextPlace[], holder: Fields, name: string, where: string): void {
	const piece = holder[name];
	if (typeof piece !== "string" || piece === "") return;
	places.push({
		key: `${where} ${name}`,
		text: piece,
		write(text) {
			holder[name] = text;
		},
	});
}

function records(list: unknown): Fields[] {
	return Array.isArray(list) ? (list as unknown[]).filter(isRecord) : [];
}
