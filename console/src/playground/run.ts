import { useCallback, useEffect, useRef, useState } from "react";
import { request } from "../api/call.ts";
import { refusedBy } from "../api/refused.ts";
import { session } from "../api/session.ts";

/** The state of the playground's last call. */
export interface Run {
	readonly state: "idle" | "running" | "done" | "failed" | "stopped";
	readonly status: number | null;
	readonly headers: readonly (readonly [string, string])[];
	readonly requestId: string | null;
	/** Milliseconds to the answer's head, and to its end. */
	readonly headMs: number | null;
	readonly wholeMs: number | null;
	readonly fault: unknown;
}

const NOTHING: Run = { state: "idle", status: null, headers: [], requestId: null, headMs: null, wholeMs: null, fault: null };

export interface Runner {
	readonly run: Run;
	/** Calls the API's endpoint with the session; `read` consumes the answer. A new call stops the previous one. */
	start(path: string, body: unknown, read: (answer: Response) => Promise<void>): Promise<void>;
	/** Aborts the call: the server stops, and charges what it has generated. */
	stop(): void;
}

export function useRun(): Runner {
	const [run, setRun] = useState(NOTHING);
	const abort = useRef<AbortController | null>(null);
	useEffect(() => () => abort.current?.abort(), []);
	const start = useCallback(async (path: string, body: unknown, read: (answer: Response) => Promise<void>) => {
		abort.current?.abort();
		const leave = new AbortController();
		abort.current = leave;
		const began = performance.now();
		const took = () => performance.now() - began;
		const update = (part: Partial<Run>) => {
			if (abort.current === leave) setRun((now) => ({ ...now, ...part }));
		};
		setRun({ ...NOTHING, state: "running" });
		try {
			const answer = await request(`/play${path}`, { method: "POST", body, signal: leave.signal });
			const requestId = answer.headers.get("x-request-id");
			update({ status: answer.status, headers: [...answer.headers], requestId, headMs: took() });
			if (!answer.ok) {
				const refused = await refusedBy(answer);
				if (refused.status === 401) session.ended();
				throw refused;
			}
			await read(answer);
			update({ state: "done", wholeMs: took() });
		} catch (fault) {
			update({ state: leave.signal.aborted ? "stopped" : "failed", fault: leave.signal.aborted ? null : fault, wholeMs: took() });
		}
	}, []);
	const stop = useCallback(() => abort.current?.abort(), []);
	return { run, start, stop };
}
