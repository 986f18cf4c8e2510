import type { Task } from "../../../src/routes/console/types.ts";
import { Moment } from "./moment.tsx";

/** The progress of background work. Screen readers announce changes. */
export function TaskLine({ task, what }: { readonly task: Task<unknown>; readonly what: string }) {
	return (
		<div role="status">
			{task.state === "never" ? (
				task.error === null ? null : (
					<div className="note">{task.error}</div>
				)
			) : task.state === "failed" ? (
				<div className="note note-bad">
					The {what} of <Moment at={task.startedAt} /> failed: <span className="break">{task.error}</span>
				</div>
			) : task.state === "running" ? (
				<div className="note">
					The {what} has been running since <Moment at={task.startedAt} />.
				</div>
			) : (
				<p className="quiet">
					The last {what} ended <Moment at={task.endedAt} />.
				</p>
			)}
		</div>
	);
}
