import type { TimerClock } from "../../telemetry/timer-clock.ts";
import type { FaultLog } from "./fault-log.ts";
import { faultOfConnection, RpcFault } from "./faults.ts";
import type { LargeAnswer } from "./large-answer.ts";
import type { RpcMember } from "./member.ts";
import type { RpcStream } from "./port.ts";

export interface AnswerStreamDeps {
	readonly clock: TimerClock;
	/** How long the upstream may be silent while a reader waits for it, in milliseconds. */
	readonly silenceMs: number;
	/** The caller's signal. */
	readonly signal: AbortSignal;
	/** Releases the place and the timers of the attempt. */
	readonly end: (fault?: RpcFault) => void;
	readonly faults: FaultLog;
	readonly requestId: string;
	readonly member: RpcMember;
}

/** Returns a stream of a large answer. A piece is read from the upstream only on demand, so nothing accumulates. */
export function answerStream(answer: LargeAnswer, deps: AnswerStreamDeps): RpcStream {
	const { clock, silenceMs, signal, end, faults, requestId, member } = deps;
	let over = false;
	const stop = (fault?: RpcFault): void => {
		if (over) return;
		over = true;
		if (fault === undefined || signal.aborted) {
			end();
			return;
		}
		faults.log(requestId, member, fault);
		end(fault);
	};
	const cancel = (): void => {
		stop();
		answer.cancel();
	};
	const value = new ReadableStream<Uint8Array>(
		{
			async pull(controller) {
				const late = new RpcFault("timeout", "an answer that fell silent");
				const cancelTimer = clock.after(silenceMs, () => {
					stop(late);
					answer.cancel();
				});
				try {
					const piece = await answer.next();
					if (piece === null) {
						stop();
						controller.close();
					} else controller.enqueue(piece);
				} catch (error) {
					const fault = signal.aborted ? undefined : faultOfConnection(error);
					stop(fault);
					answer.cancel();
					controller.error(signal.aborted ? signal.reason : fault);
				} finally {
					cancelTimer();
				}
			},
			cancel,
		},
		{ highWaterMark: 0 },
	);
	return { kind: answer.kind === "result" ? "result-stream" : "error-stream", value, cancel };
}
