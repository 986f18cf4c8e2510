import type { FinishOptions, Picture } from "../../engines/images/port.ts";
import { ApiError } from "../../errors/index.ts";
import type { Requester } from "../../fairness/index.ts";
import type { ImageDeps } from "./deps.ts";
import { engineOf } from "./safe-picture.ts";

/** A server's picture in the caller's size and format. Throws INFERENCE_FAILED where it is none: that is not the caller's fault. */
export async function finished(
	bytes: Uint8Array | undefined,
	options: FinishOptions,
	deps: ImageDeps,
	requester: Requester,
): Promise<Picture> {
	try {
		if (bytes === undefined) throw new Error("the upstream made no picture");
		return await engineOf(deps).finish(bytes, options, requester);
	} catch (error) {
		if (error instanceof ApiError || requester.signal.aborted) throw error;
		throw new ApiError("INFERENCE_FAILED", { cause: error });
	}
}
