/** A turn of a conversation in the API's format. */
export type Turn =
	| { readonly role: "system" | "user"; readonly content: string }
	| {
			readonly role: "assistant";
			readonly content: string;
			/** Shown, but never sent back. */
			readonly thoughts?: string;
			readonly tool_calls?: readonly ToolCall[];
	  }
	| { readonly role: "tool"; readonly tool_call_id: string; readonly content: string };

export interface ToolCall {
	readonly id: string;
	readonly type: "function";
	readonly function: { readonly name: string; readonly arguments: string };
}

interface ToolPart {
	readonly index?: number;
	readonly id?: string;
	readonly function?: { readonly name?: string; readonly arguments?: string };
}

/** The content of one event of a stream. */
export interface Chunk {
	readonly choices?: readonly {
		readonly delta?: {
			readonly content?: string | null;
			readonly reasoning_content?: string | null;
			readonly tool_calls?: readonly ToolPart[];
		};
	}[];
	/** Instead of the other members, if the stream failed. */
	readonly error?: { readonly message?: string };
}

export type Answer = Extract<Turn, { role: "assistant" }>;

export const EMPTY_ANSWER: Answer = { role: "assistant", content: "" };

/** Returns the answer with a chunk added. Throws if the chunk reports that the stream failed. */
export function added(answer: Answer, chunk: Chunk): Answer {
	if (chunk.error !== undefined) throw new Error(chunk.error.message ?? "The stream broke");
	const delta = chunk.choices?.[0]?.delta;
	if (delta === undefined) return answer;
	const thoughts = (answer.thoughts ?? "") + (delta.reasoning_content ?? "");
	const calls = (delta.tool_calls ?? []).reduce(withPart, answer.tool_calls ?? []);
	return {
		role: "assistant",
		content: answer.content + (delta.content ?? ""),
		...(thoughts === "" ? {} : { thoughts }),
		...(calls.length === 0 ? {} : { tool_calls: calls }),
	};
}

/** Name and id come once, the arguments in pieces. */
function withPart(calls: readonly ToolCall[], part: ToolPart): readonly ToolCall[] {
	const place = part.index ?? calls.length;
	const before = calls[place] ?? { id: "", type: "function", function: { name: "", arguments: "" } };
	const next: ToolCall = {
		id: part.id ?? before.id,
		type: "function",
		function: {
			name: part.function?.name ?? before.function.name,
			arguments: before.function.arguments + (part.function?.arguments ?? ""),
		},
	};
	return [...calls.slice(0, place), next, ...calls.slice(place + 1)];
}

/** Returns the turns to send: without thoughts, and without the text of an answer that has none. */
export function asSent(turns: readonly Turn[]): readonly unknown[] {
	return turns.map((turn) => {
		if (turn.role !== "assistant") return turn;
		const { thoughts: _, ...sent } = turn;
		return sent.content === "" && sent.tool_calls !== undefined ? { ...sent, content: null } : sent;
	});
}

/** Returns the calls of the last answer that wait for a result. */
export function openCalls(turns: readonly Turn[]): readonly ToolCall[] {
	const last = turns.at(-1);
	return last?.role === "assistant" ? (last.tool_calls ?? []) : [];
}
