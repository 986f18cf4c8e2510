import type { ReactNode } from "react";
import { faultText } from "../api/call.ts";
import { Refused, Unreachable } from "../api/refused.ts";

interface Asked<T> {
	readonly data: T | undefined;
	readonly error: Error | null;
	refetch(): unknown;
}

/**
 * What a query brought, what it waits for, or why it failed. What was there before a fault stays in view, with the
 * fault above it.
 */
export function Loaded<T>({ query, children }: { readonly query: Asked<T>; readonly children: (data: T) => ReactNode }) {
	const { data, error } = query;
	if (data === undefined && error === null) return <Waiting />;
	// A dead server has its banner: no page says it again above what it still shows.
	const silent = data !== undefined && error instanceof Unreachable;
	return (
		<>
			{error === null || silent ? null : <Fault error={error} again={() => void query.refetch()} />}
			{data === undefined ? null : children(data)}
		</>
	);
}

export function Waiting({ what = "Loading" }: { readonly what?: string }) {
	return (
		<div className="waiting" role="status">
			{what}…
		</div>
	);
}

/** Why something failed, with the request's id where there is one. */
export function Fault({ error, again }: { readonly error: unknown; readonly again?: () => void }) {
	const { requestId, retryAfterSeconds } = error instanceof Refused ? error : { requestId: null, retryAfterSeconds: null };
	return (
		<div className="note note-bad" role="alert">
			<span className="break">
				{faultText(error)}
				{retryAfterSeconds === null ? "" : ` (again in ${retryAfterSeconds} s)`}
			</span>
			{requestId === null ? null : (
				<>
					{" "}
					<span className="mono break">{requestId}</span>
				</>
			)}
			{again === undefined ? null : (
				<>
					{" "}
					<button type="button" className="button button-small" onClick={again}>
						Try again
					</button>
				</>
			)}
		</div>
	);
}

export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
	return (
		<div className="sheet empty">
			<strong>{title}</strong>
			{children}
		</div>
	);
}
