import type { ReactNode } from "react";
import type { Run } from "./run.ts";

interface RunButtonsProps {
	readonly run: Run;
	readonly onStop: () => void;
	/** False: there is nothing to send yet. */
	readonly ready: boolean;
	/** The label of the send button, before and while it runs. */
	readonly label: string;
	readonly runningLabel: string;
}

/** The buttons that send a call or stop the running one. */
export function RunButtons({ run, onStop, ready, label, runningLabel }: RunButtonsProps): ReactNode {
	const running = run.state === "running";
	return (
		<div className="form-foot">
			<button type="button" className="button" onClick={onStop} disabled={!running}>
				Stop
			</button>
			<button type="submit" className="button button-main" disabled={running || !ready}>
				{running ? runningLabel : label}
			</button>
		</div>
	);
}
