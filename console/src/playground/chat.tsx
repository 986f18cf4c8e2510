import { type FormEvent, type KeyboardEvent, type ReactNode, useState } from "react";
import { AreaField, TextField } from "../parts/field.tsx";
import { Page } from "../parts/page.tsx";
import { type Answer, added, asSent, type Chunk, EMPTY_ANSWER, openCalls, type ToolCall, type Turn } from "./conversation.ts";
import { eventsOf } from "./events.ts";
import { ModelField } from "./model-field.tsx";
import { Outcome } from "./outcome.tsx";
import { useRun } from "./run.ts";
import { RunButtons } from "./run-buttons.tsx";
import { Turns } from "./turns.tsx";

const SAMPLE_TOOL = JSON.stringify(
	[
		{
			type: "function",
			function: {
				name: "weather",
				description: "The weather of a place now",
				parameters: { type: "object", properties: { place: { type: "string" } }, required: ["place"] },
			},
		},
	],
	null,
	2,
);

/** Parses the typed tools, or returns why they are invalid. */
function toolsOf(text: string): { readonly tools?: readonly unknown[]; readonly fault?: string } {
	if (text.trim() === "") return {};
	try {
		const tools: unknown = JSON.parse(text);
		return Array.isArray(tools) ? { tools } : { fault: "Tools must be an array" };
	} catch (fault) {
		return { fault: fault instanceof Error ? fault.message : "This is not valid JSON" };
	}
}

/** Chats with a model by stream, with tools whose results the reader types. */
export function ChatPage(): ReactNode {
	const [turns, setTurns] = useState<readonly Turn[]>([]);
	const [typed, setTyped] = useState("");
	const [model, setModel] = useState("default");
	const [system, setSystem] = useState("");
	const [temperature, setTemperature] = useState("");
	const [most, setMost] = useState("512");
	const [toolText, setToolText] = useState("");
	const { run, start, stop } = useRun();
	const { tools, fault } = toolsOf(toolText);
	const waiting = openCalls(turns);

	const bodyOf = (conversation: readonly Turn[]) => ({
		model,
		messages: asSent([...(system === "" ? [] : [{ role: "system", content: system } as const]), ...conversation]),
		stream: true,
		stream_options: { include_usage: true },
		...(temperature === "" ? {} : { temperature: Number(temperature) }),
		...(most === "" ? {} : { max_completion_tokens: Number(most) }),
		...(tools === undefined || tools.length === 0 ? {} : { tools }),
	});
	const send = (conversation: readonly Turn[]) => {
		let answer: Answer = EMPTY_ANSWER;
		setTurns([...conversation, answer]);
		void start("/chat/completions", bodyOf(conversation), async (response) => {
			for await (const event of eventsOf(response)) {
				answer = added(answer, JSON.parse(event) as Chunk);
				setTurns([...conversation, answer]);
			}
		}).then(() => {
			// A refused question has no answer, so its text returns to the input.
			if (answer === EMPTY_ANSWER) setTurns(conversation);
		});
	};
	const newTurns = typed.trim() === "" ? [] : [{ role: "user", content: typed } as const];
	const lastUnanswered = turns.at(-1)?.role === "user" || turns.at(-1)?.role === "tool";
	const submit = () => {
		if (run.state === "running" || waiting.length > 0 || fault !== undefined) return;
		if (newTurns.length === 0 && !lastUnanswered) return;
		setTyped("");
		send([...turns, ...newTurns]);
	};
	const answerCalls = (results: readonly { readonly call: ToolCall; readonly content: string }[]) =>
		send([...turns, ...results.map(({ call, content }) => ({ role: "tool", tool_call_id: call.id, content }) as const)]);
	return (
		<Page
			title="Chat"
			says="Requests use the key that you signed in with, and the operator's account pays."
			actions={
				<button
					type="button"
					className="button"
					disabled={turns.length === 0 || run.state === "running"}
					onClick={() => setTurns([])}
				>
					New conversation
				</button>
			}
		>
			<div className="play">
				<div className="form">
					<Turns turns={turns} running={run.state === "running"} onResults={answerCalls} />
					<form
						className="form"
						onSubmit={(event: FormEvent) => {
							event.preventDefault();
							submit();
						}}
						onKeyDown={(event: KeyboardEvent) => {
							if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit();
						}}
					>
						<AreaField
							label="Message"
							value={typed}
							onChange={setTyped}
							rows={3}
							note={waiting.length > 0 ? "The model is waiting for the results of its calls, above" : "Press Ctrl+Enter to send"}
						/>
						<RunButtons
							run={run}
							onStop={stop}
							ready={waiting.length === 0 && (newTurns.length > 0 || lastUnanswered)}
							label={lastUnanswered && newTurns.length === 0 ? "Send again" : "Send"}
							runningLabel="Answering…"
						/>
					</form>
				</div>
				<div className="form">
					<div className="sheet sheet-pad form">
						<ModelField type="text" value={model} onChange={setModel} />
						<div className="form-row">
							<TextField
								label="Temperature"
								type="number"
								value={temperature}
								onChange={setTemperature}
								placeholder="the model's default"
								range={{ min: 0, max: 2, step: 0.1 }}
							/>
							<TextField
								label="Maximum output tokens"
								type="number"
								value={most}
								onChange={setMost}
								range={{ min: 1, step: 1 }}
							/>
						</div>
						<AreaField label="System prompt" value={system} onChange={setSystem} rows={2} />
						<AreaField
							label="Tools, as JSON"
							value={toolText}
							onChange={setToolText}
							rows={toolText === "" ? 2 : 8}
							mono
							placeholder="[]"
							fault={fault}
						/>
						{toolText === "" ? (
							<div>
								<button type="button" className="button button-small" onClick={() => setToolText(SAMPLE_TOOL)}>
									Insert a sample tool
								</button>
							</div>
						) : null}
					</div>
					<Outcome run={run} request={{ path: "/chat/completions", json: bodyOf([...turns, ...newTurns]), answer: "stream" }} />
				</div>
			</div>
		</Page>
	);
}
