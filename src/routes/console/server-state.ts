import { type Traffic, type TrafficCounts, TrafficReport } from "../../telemetry/traffic.ts";
import type { WorkerPeers } from "../../telemetry/worker-peers.ts";

/** What workers ask each other. */
const QUESTION = "server state";

/** What a process has in memory, as the console shows it. It survives a structured clone. */
interface ProcessState {
	readonly traffic: TrafficCounts;
	/** Open holds. */
	readonly running: number;
	readonly rssBytes: number;
	readonly journal: JournalState;
}

interface JournalState {
	readonly writtenSeq: number;
	readonly appliedSeq: number;
	readonly backlogBytes: number;
	/** Why no metered request is accepted now; null if they are. */
	readonly full: string | null;
}

/** The same of all processes of the server together. */
export interface ServerState extends Omit<ProcessState, "traffic"> {
	readonly traffic: TrafficReport;
}

export interface ServerStateDeps {
	readonly traffic: Pick<Traffic, "counts">;
	readonly holdsOpen: () => number;
	readonly journal: Omit<JournalState, "full"> & { workRefusal(): { readonly message: string } | null };
	readonly clock: { wallMs(): number };
	/** The workers of this server; null where it is one process. */
	readonly peers: WorkerPeers | null;
}

/** Returns a reader of the server's state. It asks all workers, and adds up what they answer. */
export function serverStateReader(deps: ServerStateDeps): () => Promise<ServerState> {
	const own = (): ProcessState => {
		const { writtenSeq, appliedSeq, backlogBytes } = deps.journal;
		return {
			traffic: deps.traffic.counts(),
			running: deps.holdsOpen(),
			rssBytes: process.memoryUsage.rss(),
			journal: { writtenSeq, appliedSeq, backlogBytes, full: deps.journal.workRefusal()?.message ?? null },
		};
	};
	const { peers, clock } = deps;
	if (peers === null) return async () => sumOf([own()], clock.wallMs());
	peers.answer(QUESTION, own);
	return async () => {
		const answers = await peers.gather(QUESTION);
		return sumOf(answers.length === 0 ? [own()] : answers.map(({ answer }) => answer as ProcessState), clock.wallMs());
	};
}

function sumOf(states: readonly ProcessState[], nowMs: number): ServerState {
	const sum = (of: (state: ProcessState) => number) => states.reduce((total, state) => total + of(state), 0);
	return {
		traffic: new TrafficReport(
			states.map(({ traffic }) => traffic),
			nowMs,
		),
		running: sum(({ running }) => running),
		rssBytes: sum(({ rssBytes }) => rssBytes),
		journal: {
			writtenSeq: sum(({ journal }) => journal.writtenSeq),
			appliedSeq: sum(({ journal }) => journal.appliedSeq),
			backlogBytes: sum(({ journal }) => journal.backlogBytes),
			full: states.find(({ journal }) => journal.full !== null)?.journal.full ?? null,
		},
	};
}
