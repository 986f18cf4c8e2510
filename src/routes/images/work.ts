import type { ChargeLine } from "../../budgets/port.ts";
import { ImageFault, imageFaultAnswer } from "../../engines/images/port.ts";
import { ApiError, type ErrorCode } from "../../errors/index.ts";
import type { Call } from "../../server/call.ts";
import { CLIENT_LEFT, CLIENT_LEFT_ANSWER } from "../../server/client-left.ts";
import type { Answer, MeteredAnswer, Settlement } from "../../server/endpoint.ts";

export interface WorkOrder {
	readonly call: Call;
	readonly settlement: Settlement;
	readonly lines: readonly ChargeLine[];
	/** The error code of a failure of the work on this route. */
	readonly failure: Extract<ErrorCode, "IMAGE_EDIT_ERROR" | "UPSCALE_FAILED" | "INFERENCE_FAILED">;
	/** The path of each picture in the request. */
	readonly places: readonly (readonly (string | number)[])[];
}

/** The result, and the upstream that made it. */
export interface ImageWorkResult {
	readonly answer: Answer;
	readonly upstream: string;
	readonly retries: number;
}

/**
 * A request for pictures after admission and hold. It is posted when its answer is complete, or its caller left too
 * late.
 */
export class ImageWork {
	readonly #order: WorkOrder;
	/** The server that was sent the request. From then on a caller that leaves is charged. */
	#sentTo: string | null = null;

	constructor(order: WorkOrder) {
		this.#order = order;
	}

	/** The callback for `ImageForward.onSent`. */
	readonly sent = (upstream: string): void => {
		this.#sentTo = upstream;
	};

	/** Makes the pictures, posts, and answers. Throws the route's errors: nothing is posted then. */
	async answer(make: () => Promise<ImageWorkResult>): Promise<MeteredAnswer> {
		const { call } = this.#order;
		call.suspendIdleTimeout();
		try {
			const { answer, upstream, retries } = await make();
			call.headers["x-service-model-router"] = upstream;
			if (retries > 0) call.headers["x-retry-count"] = String(retries);
			this.#post(call.signal.aborted ? CLIENT_LEFT : 200, upstream);
			return answer;
		} catch (error) {
			if (!call.signal.aborted || this.#sentTo === null) throw this.#callerError(error);
			this.#post(CLIENT_LEFT, this.#sentTo);
			return CLIENT_LEFT_ANSWER;
		} finally {
			call.resumeIdleTimeout();
		}
	}

	#post(status: number, upstream: string): void {
		const { settlement, lines } = this.#order;
		const posted = settlement.post({ lines, usage: null, status, upstream });
		if (posted === null && status === 200)
			throw new ApiError("UNKNOWN_ERROR", { cause: new Error("a picture was settled twice") });
	}

	/** Returns the error for the caller: faults of the picture are the caller's; other failures get the route's code. */
	#callerError(error: unknown): unknown {
		const { call, failure } = this.#order;
		if (call.signal.aborted) return error;
		if (error instanceof ImageFault) return this.#refusal(error);
		if (error instanceof ApiError && error.code === "REQUEST_TIMEOUT")
			return new ApiError(error.code, { message: "The picture was not made in time", ...error.options, cause: error });
		if (error instanceof ApiError && error.code !== "INFERENCE_FAILED") return error;
		return new ApiError(failure, { cause: error });
	}

	/** Returns the refusal with the field of the faulty picture, and its number in a list. */
	#refusal({ kind, message, imageIndex }: ImageFault): ApiError {
		const [field = "image", index] = this.#order.places[imageIndex ?? 0] ?? [];
		return imageFaultAnswer(new ImageFault(kind, message, typeof index === "number" ? index : undefined), String(field));
	}
}
