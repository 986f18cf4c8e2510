import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { queries } from "../api/queries.ts";
import { Refused } from "../api/refused.ts";
import { session } from "../api/session.ts";
import { duration } from "../format/quantity.ts";
import { Amount } from "../parts/amount.tsx";
import { CodeBlock } from "../parts/code-block.tsx";
import { Fault } from "../parts/loaded.tsx";
import { Section } from "../parts/page.tsx";
import { State, type Tone } from "../parts/state.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { useSettled } from "../parts/use-settled.ts";
import type { Run } from "./run.ts";
import { type Language, type SampleRequest, sample } from "./samples.ts";

const STATES: Readonly<Record<Run["state"], readonly [Tone, string]>> = {
	idle: ["off", "not sent"],
	running: ["warn", "running"],
	done: ["good", "done"],
	failed: ["bad", "failed"],
	stopped: ["off", "stopped"],
};

/** The cost and answer of a call, and the same call as code. */
export function Outcome({ run, request }: { readonly run: Run; readonly request: SampleRequest }) {
	return (
		<>
			<Section title="Answer">
				<dl className="sheet sheet-pad facts" aria-live="polite">
					<dt>State</dt>
					<dd>
						<State tone={STATES[run.state][0]}>
							{STATES[run.state][1]}
							{run.status === null ? "" : `, ${run.status}`}
						</State>
					</dd>
					<dt>Cost</dt>
					<dd>
						<Cost run={run} />
					</dd>
					<dt>Time</dt>
					<dd>
						{run.wholeMs === null ? (
							<span className="quiet">none yet</span>
						) : (
							`${duration(run.wholeMs)}${run.headMs === null ? "" : `, headers after ${duration(run.headMs)}`}`
						)}
					</dd>
					<dt>Request</dt>
					<dd>
						{run.requestId === null ? (
							<span className="quiet">none yet</span>
						) : (
							<Link to="/requests" search={{ id: run.requestId }} className="mono">
								{run.requestId}
							</Link>
						)}
					</dd>
				</dl>
				{run.fault === null ? null : <Fault error={run.fault} />}
				{run.headers.length === 0 ? null : (
					<details>
						<summary>Headers ({run.headers.length})</summary>
						<dl className="sheet sheet-pad facts mono">
							{run.headers.map(([name, value]) => (
								<Header key={name} name={name} value={value} />
							))}
						</dl>
					</details>
				)}
			</Section>
			<Section title="The same request as code">
				<AsCode request={request} />
			</Section>
		</>
	);
}

function Header({ name, value }: { readonly name: string; readonly value: string }) {
	return (
		<>
			<dt>{name}</dt>
			<dd>{value}</dd>
		</>
	);
}

/** The posted price, which reaches the store a moment after the answer. */
function Cost({ run }: { readonly run: Run }) {
	const { requestId, state } = run;
	// The store receives posts after a quarter of a second, so no query is sent before.
	const ended = requestId !== null && (state === "done" || state === "stopped");
	const charged = useSettled(ended ? requestId : null, 500) === requestId && ended;
	const query = useQuery({
		...queries.request(requestId ?? ""),
		enabled: charged,
		retry: (tries, fault) => fault instanceof Refused && fault.status === 404 && tries < 12,
		retryDelay: 250,
	});
	if (state === "failed") return <>nothing, since failed requests are free</>;
	if (!ended) return <span className="quiet">{state === "running" ? "known at the end" : "none yet"}</span>;
	if (query.data !== undefined) return <Amount value={query.data.data.price} />;
	return <span className="quiet">{query.error === null ? "being booked…" : "not booked yet: look at the request"}</span>;
}

const LANGUAGES: readonly { readonly value: Language; readonly text: string }[] = [
	{ value: "curl", text: "curl" },
	{ value: "python", text: "Python" },
	{ value: "typescript", text: "TypeScript" },
];

function AsCode({ request }: { readonly request: SampleRequest }) {
	const [language, setLanguage] = useState<Language>("curl");
	const base = session.current()?.publicUrl ?? location.origin;
	return (
		<Tabs
			label="Language"
			value={language}
			onChange={setLanguage}
			tabs={LANGUAGES.map(({ value, text }) => ({
				value,
				text,
				panel: () => <CodeBlock text={sample(value, request, base)} what={`the request as ${text}`} />,
			}))}
		/>
	);
}
