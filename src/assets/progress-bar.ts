import { SingleBar } from "cli-progress";
import type { AssetStatus } from "./store.ts";

export interface ProgressDisplay {
	update(status: AssetStatus): void;
	/** Ends the display. Call it also after a failure. */
	end(): void;
}

interface Terminal {
	readonly isTTY?: boolean;
	write(text: string): unknown;
}

const megabytes = (bytes: number): number => Math.round(bytes / 1e6);

/** Shows a bar that redraws itself. */
function bar(title: string, out: NodeJS.WritableStream): ProgressDisplay {
	const line = new SingleBar({
		format: `${title} [{bar}] {percentage}% {value}/{total} MB`,
		stream: out,
		hideCursor: true,
		clearOnComplete: false,
		barsize: 30,
	});
	let started = false;
	return {
		update(status) {
			if (started) line.update(megabytes(status.receivedBytes));
			else line.start(megabytes(status.totalBytes), megabytes(status.receivedBytes));
			started = true;
		},
		end() {
			if (started) line.stop();
		},
	};
}

/** Prints a line at each tenth, for logs and pipes. */
function lines(title: string, out: Terminal): ProgressDisplay {
	let lastTenth = -1;
	return {
		update({ receivedBytes, totalBytes }) {
			const tenth = Math.floor((receivedBytes / totalBytes) * 10);
			if (tenth <= lastTenth) return;
			lastTenth = tenth;
			out.write(`${title}: ${megabytes(receivedBytes)} of ${megabytes(totalBytes)} MB\n`);
		},
		end() {},
	};
}

/** Shows a download on standard error: a bar on a terminal, plain lines elsewhere. Standard output stays clean. */
export function showProgress(title: string, out: NodeJS.WriteStream = process.stderr): ProgressDisplay {
	return out.isTTY ? bar(title, out) : lines(title, out);
}
