/** The child's half of an engine process. Import it only from a child's entry file. */
import type { FileSink } from "bun";
import { BytePipe, INPUT_FD, OUTPUT_FD, takeOutBytes, writeBytes } from "./byte-pipe.ts";
import type { FromChild, ToChild } from "./child-messages.ts";

export interface ChildEngine {
	/** Loads the engine; the result tells the parent that work may come. */
	start(init: unknown): Promise<unknown>;
	/** Does one piece of work; absent if work comes another way. */
	work?(work: unknown): Promise<unknown>;
	/** True keeps the process from being stopped as idle. */
	busy?(): boolean;
}

/** Exits at once and without clean-up: a normal exit would wait for native threads. */
export function endNow(): never {
	if (process.platform !== "win32") process.kill(process.pid, "SIGKILL");
	process.exit(1);
}

/** Serves the parent until it sends stop or ends in any way. */
export function serveParent(engine: ChildEngine): void {
	if (!process.send) {
		console.error("This program is started by the server");
		process.exit(64);
	}
	const tell = (message: FromChild) => process.send?.(message);
	let input: BytePipe | null = null;
	let output: FileSink | null = null;
	let written: Promise<void> = Promise.resolve();
	const work = async ({ work, piped }: Extract<ToChild, { type: "work" }>) => {
		if (piped.length > 0) input ??= new BytePipe(INPUT_FD);
		const done = await engine.work?.(piped.length === 0 ? work : await input?.putBack(work, piped));
		const { rest, piped: large, bytes } = takeOutBytes(done);
		if (large.length === 0) tell({ type: "done", done, piped: [] });
		else
			written = written.then(() => {
				tell({ type: "done", done: rest, piped: large });
				output ??= Bun.file(OUTPUT_FD).writer();
				return writeBytes(bytes, output);
			});
	};
	// The parent handles a signal to the whole group: it drains first and then stops its children.
	process.on("SIGINT", () => {});
	process.on("SIGTERM", () => {});
	process.on("disconnect", endNow);
	process.on("message", (message: ToChild) => {
		if (message.type === "init")
			engine.start(message.init).then(
				(ready) => tell({ type: "ready", ready }),
				(fault) => tell({ type: "failed", text: fault instanceof Error ? fault.message : String(fault) }),
			);
		else if (message.type === "ping") tell({ type: "pong", busy: engine.busy?.() ?? false, rssBytes: process.memoryUsage.rss() });
		else if (message.type === "work") void work(message);
		else endNow();
	});
}
