import type { ReactNode } from "react";
import { faultText } from "../api/call.ts";
import { Refused, Unreachable } from "../api/refused.ts";

interface QueryState<T> {
	readonly data: T | undefined;
	readonly error: Error | null;
	refetch(): unknown;
}

/** Shows a query's data, its loading state, or its error. Old data stays in view below the error. */
export function Loaded<T>({ query, children }: { readonly query: QueryState<T>; readonly children: (data: T) => ReactNode }) {
	const { data, error } = query;
	if (data === undefined && error === null) return <Waiting />;
	// The banner already reports an unreachable server, so pages with data do not repeat it.
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

/** Shows why something failed, with the request's id if there is one. */
export function Fault({ error, again }: { readonly error: unknown; readonly again?: () => void }) {
	const { requestId, retryAfterSeconds } = error instanceof Refused ? error : { requestId: null, retryAfterSeconds: null };
	return (
		<div className="note note-bad" role="alert">
			<span className="break">
				{faultText(error)}
				{retryAfterSeconds === null ? "" : ` (retry in ${retryAfterSeconds} s)`}
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
