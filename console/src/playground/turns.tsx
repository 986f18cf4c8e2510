import { useState } from "react";
import { Field } from "../parts/field.tsx";
import { openCalls, type ToolCall, type Turn } from "./conversation.ts";

const NAMES: Readonly<Record<Turn["role"], string>> = { system: "System", user: "You", assistant: "Model", tool: "Result" };

interface TurnsProps {
	readonly turns: readonly Turn[];
	readonly running: boolean;
	readonly onResults: (results: readonly { readonly call: ToolCall; readonly content: string }[]) => void;
}

/** A conversation. Screen readers announce an answer once it is complete. */
export function Turns({ turns, running, onResults }: TurnsProps) {
	if (turns.length === 0) return <div className="sheet empty">The conversation begins with your message.</div>;
	const waiting = running ? [] : openCalls(turns);
	return (
		<div className="sheet turns" role="log" aria-label="Conversation" aria-busy={running}>
			{turns.map((turn, index) => (
				// biome-ignore lint/suspicious/noArrayIndexKey: turns are only added at the end
				<div key={index} className={`turn turn-${turn.role}`}>
					<h3>{NAMES[turn.role]}</h3>
					<div className="turn-said">
						{turn.role === "assistant" && turn.thoughts !== undefined ? (
							<details>
								<summary>Thoughts</summary>
								<p className="said quiet">{turn.thoughts}</p>
							</details>
						) : null}
						{turn.content === "" && running && index === turns.length - 1 ? (
							<span className="quiet">…</span>
						) : (
							<p className="said">{turn.content}</p>
						)}
						{turn.role === "assistant"
							? turn.tool_calls?.map((call) => (
									<pre key={call.id} className="tool-call">
										{call.function.name}({call.function.arguments})
									</pre>
								))
							: null}
					</div>
				</div>
			))}
			{waiting.length === 0 ? null : <Results key={waiting.map(({ id }) => id).join()} calls={waiting} onResults={onResults} />}
		</div>
	);
}

function Results({ calls, onResults }: { readonly calls: readonly ToolCall[]; readonly onResults: TurnsProps["onResults"] }) {
	const [results, setResults] = useState<Readonly<Record<string, string>>>({});
	return (
		<form
			className="turn form"
			onSubmit={(event) => {
				event.preventDefault();
				onResults(calls.map((call) => ({ call, content: results[call.id] ?? "" })));
			}}
		>
			{calls.map((call) => (
				<Field key={call.id} label={`Result of ${call.function.name}`}>
					{(control) => (
						<input
							{...control}
							className="input"
							value={results[call.id] ?? ""}
							onChange={(event) => setResults({ ...results, [call.id]: event.target.value })}
						/>
					)}
				</Field>
			))}
			<div className="form-foot">
				<button type="submit" className="button button-main">
					Send results
				</button>
			</div>
		</form>
	);
}
